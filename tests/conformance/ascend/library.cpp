// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/ascend/library.hpp"

#include <dlfcn.h>

namespace peercoll::conformance::ascend {

void* acl_library() {
    static void* const library = [] {
        for (const char* const name : {"libascendcl.so", "libacl_rt.so"})
            if (void* const opened = dlopen(name, RTLD_NOW | RTLD_LOCAL); opened != nullptr) return opened;
        throw SkipReason(std::string("no ACL: ") + dlerror());
    }();
    return library;
}

void* find_in_acl(const char* symbol) {
    return dlsym(acl_library(), symbol);
}

const Library& lib() {
    static const Library loaded;
    return loaded;
}

}  // namespace peercoll::conformance::ascend
