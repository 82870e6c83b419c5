;; no_module.wasm as text; a test holds the two together.
(module
  (memory (export "memory") 2)
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "_initialize"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) i32.const 1024))
