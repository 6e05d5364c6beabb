import type { EndpointRow, EndpointStore } from './store.ts'

/** How long we may not see what another process has made due. */
const walkEveryMs = 1_000

/**
 * Knows the active endpoints with pending work. It walks over all of them, and over the disabled ones with a backlog,
 * only once in a while; in between, it learns of more from this process's own work.
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
