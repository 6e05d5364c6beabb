/** From the worker's owner: first the library and the key, then batches to sign. */
export type ToWorker =
  | { readonly library: string; readonly pkcs8: Uint8Array }
  | { readonly batch: readonly Uint8Array[] }

/** To the owner: ready, signatures in the order of the batch, or why the library cannot be used. */
export type FromWorker =
  | { readonly ready: true }
  | { readonly signatures: readonly Uint8Array[] }
  | { readonly failed: string }

type Scope = {
  onmessage: ((event: { readonly data: ToWorker }) => void) | null
  postMessage: (message: FromWorker) => void
}

/**
 * The code of the worker thread: OpenSSL's libcrypto through `bun:ffi`.
 *
 * Self-contained on purpose: the thread is started from this function's source text, so that the
 * single executable needs no second entry point. It may refer to nothing outside its body.
 */
export const libcryptoWorker = async (scope: Scope): Promise<void> => {
  const { dlopen, ptr } = await import('bun:ffi')

  const openLibrary = (library: string) =>
    dlopen(library, {
      d2i_AutoPrivateKey: { args: ['ptr', 'ptr', 'i64'], returns: 'ptr' },
      EVP_PKEY_free: { args: ['ptr'], returns: 'void' },
      EVP_MD_CTX_new: { args: [], returns: 'ptr' },
      EVP_MD_CTX_free: { args: ['ptr'], returns: 'void' },
      EVP_sha256: { args: [], returns: 'ptr' },
      EVP_DigestSignInit: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
      EVP_DigestSign: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'u64'], returns: 'i32' },
    }).symbols

  type Library = ReturnType<typeof openLibrary>
  type Pointer = NonNullable<ReturnType<Library['EVP_sha256']>>

  const signer = (library: Library, key: Pointer, digest: Pointer) => {
    // Room for an RSA-4096 signature; libcrypto reads this length and overwrites it.
    const signature = new Uint8Array(512)
    const length = new BigUint64Array(1)
    return (bytes: Uint8Array): Uint8Array => {
      const context = library.EVP_MD_CTX_new()
      if (context === null) throw new Error('EVP_MD_CTX_new')
      length[0] = BigInt(signature.length)
      const content = bytes.length === 0 ? null : ptr(bytes)
      const signed =
        library.EVP_DigestSignInit(context, null, digest, null, key) === 1 &&
        library.EVP_DigestSign(context, ptr(signature), ptr(length), content, bytes.length) === 1
      library.EVP_MD_CTX_free(context)
      if (!signed) throw new Error('EVP_DigestSign')
      return signature.slice(0, Number(length[0]))
    }
  }

  const start = (name: string, pkcs8: Uint8Array) => {
    const library = openLibrary(name)
    const cursor = new BigUint64Array([BigInt(ptr(pkcs8))])
    const key = library.d2i_AutoPrivateKey(null, ptr(cursor), pkcs8.length)
    pkcs8.fill(0)
    const digest = library.EVP_sha256()
    if (key === null || digest === null) throw new Error('d2i_AutoPrivateKey')
    return signer(library, key, digest)
  }

  let sign: ((bytes: Uint8Array) => Uint8Array) | undefined
  scope.onmessage = ({ data }) => {
    try {
      if ('library' in data) {
        sign = start(data.library, data.pkcs8)
        scope.postMessage({ ready: true })
      } else if (sign !== undefined) {
        scope.postMessage({ signatures: data.batch.map(sign) })
      }
    } catch (error) {
      scope.postMessage({ failed: String(error) })
    }
  }
}
