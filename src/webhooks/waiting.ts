import type { EndpointRow, EndpointStore } from './store.ts'

/** How long we may not see what another process has made due. */
const walkEveryMs = 1_000

/**
 * Knows the active endpoints for which something is pending. Who was disabled with a backlog stands among them, and is
 * stepped over only once in a while: between, what this process has done itself tells of more.
 */
export const createWaiting = (store: EndpointStore) => {
  let walked: { readonly atMs: number; ids: Set<string> } | undefined
  const look = async (): Promise<readonly EndpointRow[]> => {
    if (walked === undefined || performance.now() - walked.atMs > walkEveryMs) {
      walked = { atMs: performance.now(), ids: new Set() }
      note(await store.waiting())
    }
    const { ids } = walked
    walked.ids = new Set()
    const active = await store.activeOf([...ids])
    note(active.map(({ id }) => id))
    return active
  }
  const note = (ids: readonly string[]): void => {
    for (const id of ids) walked?.ids.add(id)
  }
  return {
    note,
    read: async (): Promise<readonly EndpointRow[]> => {
      try {
        return await look()
      } catch (error) {
        walked = undefined
        throw error
      }
    },
  }
}
