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
    if ((error as { readonly syscall?: unknown }).syscall !== 'listen') throw error
    const { host = hostDefault, port, option } = placeOf(error)
    throw notListening(error, { host, port }, option)
  }
}
