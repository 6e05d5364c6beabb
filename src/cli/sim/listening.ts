import { notListening } from '#src/platform/http/index.ts'

/** A port of a simulator, and the option that names it. */
export type Place = {
  readonly host: string | undefined
  readonly port: number
  readonly option: string
}

/** The host that simulators listen on unless `--host` says otherwise. */
const hostDefault = '127.0.0.1'

/**
 * If nothing can listen, tells the user by which option; throws any other error as it is.
 *
 * @param placeOf - which port the error is about, where a simulator has several
 */
export const listening = async <T>(
  placeOf: (error: unknown) => Place,
  listen: () => T | Promise<T>,
): Promise<T> => {
  try {
    return await listen()
  } catch (error) {
    if (!isOfListening(error as Failure)) throw error
    const { host = hostDefault, port, option } = placeOf(error)
    throw notListening(error, { host, port }, option)
  }
}

type Failure = { readonly syscall?: unknown; readonly message?: string }

/** If a host does not resolve, the error of the runtime's sockets names no call. */
const isOfListening = ({ syscall, message }: Failure): boolean =>
  syscall === 'listen' || message?.startsWith('Failed to listen') === true
