/** Each attempt looks for ports anew: to meet another `dev` so often in a row is no accident any more. */
export const portAttemptsMax = 5

/**
 * Between the moment a port is found free and the moment it is listened on another process may take it, another
 * `dev` that starts just now first of all: `start` is then tried again, with what is free by then.
 *
 * @throws what the last attempt threw, and at once what has nothing to do with ports
 */
export const whilePortsAreTaken = async <T>(start: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      const { code } = error as { readonly code?: unknown }
      if (code !== 'EADDRINUSE' || attempt === portAttemptsMax) throw error
    }
  }
}
