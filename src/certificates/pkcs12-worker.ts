import { Pkcs12Error, type Pkcs12Failure, readPkcs12 } from './pkcs12.ts'

/** To the thread: one file. */
export type ToPkcs12Worker = { readonly bytes: Uint8Array; readonly password: string }

/** From the thread: the file's contents (DER), or why it cannot be read. */
export type FromPkcs12Worker =
  | { readonly key: Uint8Array | undefined; readonly certificates: readonly Uint8Array[] }
  | { readonly refused: Pkcs12Failure }

type Scope = {
  onmessage: ((event: { readonly data: ToPkcs12Worker }) => void) | null
  postMessage: (message: FromPkcs12Worker) => void
}

const read = ({ bytes, password }: ToPkcs12Worker): FromPkcs12Worker => {
  try {
    return readPkcs12(bytes, password)
  } catch (error) {
    if (error instanceof Pkcs12Error) return { refused: error.reason }
    throw error
  }
}

// The entry of a separate thread, because the key derivations of one file may take seconds.
const scope = globalThis as unknown as Scope
scope.onmessage = ({ data }) => scope.postMessage(read(data))
