import { notListening } from '#src/platform/http/index.ts'

/** A port of a simulator, and the option that names it. */
export type Place = {
  readonly host: string | undefined
  readonly port: number
  readonly option: string
}

/** Where simulators listen unless `--host` says so. */
const hostDefault = '127.0.0.1'

/**
 * Where nothing can listen, the user is told by which option; what else fails is thrown as it is.
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

/** For a host that does not resolve, sockets of the runtime name no call. */
const isOfListening = ({ syscall, message }: Failure): boolean =>
  syscall === 'listen' || message?.startsWith('Failed to listen') === true
