import { beatMs, type Followed, listsMax } from '../followed.ts'
import { keyShown, type Loaded, useAnswer, type Wake } from './api.ts'

const reopenMs = 10_000
/** A stream that is silent for so long is lost: a browser does not notice a connection that leads nowhere. */
const silenceMs = 4 * beatMs
/** How old a part of a page may get that the stream does not tell of, such as the deliveries of a payment. */
export const partsEveryMs = 30_000

/** The callbacks to call at a change, by the API path that they follow. */
const asks = new Map<string, Set<() => void>>()
/** The last mark of each path; the next stream goes on from there. */
const marks = new Map<string, string>()
let source: EventSource | undefined
let opening: ReturnType<typeof setTimeout> | undefined
let silence: ReturnType<typeof setTimeout> | undefined

const askFor = (list: string): void => {
  for (const ask of asks.get(list) ?? []) ask()
}

const close = (): void => {
  clearTimeout(opening)
  clearTimeout(silence)
  source?.close()
  source = undefined
}

const heard = (): void => {
  clearTimeout(silence)
  silence = setTimeout(lost, silenceMs)
}

/** Opens one stream for all that the page shows: a browser has few connections to one origin. */
const openAfter = (ms: number): void => {
  clearTimeout(opening)
  opening = setTimeout(open, ms)
}

const open = (): void => {
  close()
  // A hidden page takes no connection.
  if (document.hidden || asks.size === 0) return
  // We ask for further paths by the clock alone.
  const lists = [...asks.keys()].slice(0, listsMax)
  const query = new URLSearchParams({
    list: lists.join(' '),
    since: lists.map((list) => marks.get(list) ?? '').join('.'),
    key: keyShown(),
  })
  const opened = new EventSource(`/console/live?${query}`)
  for (const event of ['open', 'beat', 'changed', 'refused']) opened.addEventListener(event, heard)
  opened.addEventListener('changed', ({ data, lastEventId }) => {
    remember(lists, lastEventId)
    askFor(JSON.parse(data))
  })
  opened.addEventListener('refused', ({ data, lastEventId }) => {
    remember(lists, lastEventId)
    askFor(JSON.parse(data))
    openAfter(reopenMs)
  })
  opened.addEventListener('over', lost)
  // In any other state the browser connects again by itself.
  opened.addEventListener('error', () => {
    if (opened.readyState === EventSource.CLOSED) lost()
  })
  source = opened
  heard()
}

/** @param id the id of an event: a mark for each list of its stream, empty where there is none */
const remember = (lists: readonly string[], id: string): void => {
  const told = id.split('.')
  // Keep no mark of a path that nobody follows any more: it may change unseen.
  for (const [at, list] of lists.entries()) if (asks.has(list)) marks.set(list, told[at] ?? '')
}

const lost = (): void => {
  close()
  for (const list of asks.keys()) askFor(list)
  openAfter(reopenMs)
}

document.addEventListener('visibilitychange', () => openAfter(0))

/**
 * Wakes when the gateway says that one of the lists has changed.
 *
 * @param lists paths in the API, with their queries
 * @param everyMs asks by the clock too, for values that change even if nothing happens
 * @param gatherMs asks once for all changes of this time, for answers that cost more than a page of a list
 */
export const whenChanged =
  (lists: Followed | readonly Followed[], everyMs?: number, gatherMs = 0): Wake =>
  (ask) => {
    let gathering: ReturnType<typeof setTimeout> | undefined
    const changed = (): void => {
      gathering ??= setTimeout(() => {
        gathering = undefined
        ask()
      }, gatherMs)
    }
    const followed = [lists].flat()
    for (const list of followed) asks.set(list, (asks.get(list) ?? new Set()).add(changed))
    openAfter(0)
    const timer = everyMs === undefined ? undefined : setInterval(ask, everyMs)
    return () => {
      clearInterval(timer)
      clearTimeout(gathering)
      for (const list of followed) leave(list, changed)
    }
  }

/** The API's answer at a path, kept up to date. */
export const useFollowed = <T>(path: Followed, everyMs?: number): Loaded<T> =>
  useAnswer(path, whenChanged(path, everyMs))

const leave = (list: string, ask: () => void): void => {
  const own = asks.get(list)
  own?.delete(ask)
  if (own === undefined || own.size > 0) return
  asks.delete(list)
  marks.delete(list)
  openAfter(0)
}
