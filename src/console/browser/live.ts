import { beatMs, type Followed, listsMax } from '../followed.ts'
import { keyShown, type Loaded, useAnswer, type Wake } from './api.ts'

const reopenMs = 10_000
/** A stream that is silent for so long is lost: a browser does not notice a connection that leads nowhere. */
const silenceMs = 4 * beatMs
/** How old a part of a page may be that the stream does not tell of: what was delivered of a payment, say. */
export const partsEveryMs = 30_000

/** The callbacks that want to hear of a change, by the path that they follow in the API. */
const asks = new Map<string, Set<() => void>>()
/** The mark that the page was told last of each path; the next stream goes on from there. */
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
  // A page that is not seen takes no connection.
  if (document.hidden || asks.size === 0) return
  // Paths beyond these are asked for by the clock alone.
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
  // Others are lost connections, after which the browser comes back by itself.
  opened.addEventListener('error', () => {
    if (opened.readyState === EventSource.CLOSED) lost()
  })
  source = opened
  heard()
}

/** @param id of an event: the mark of each list that its stream follows; empty where there is none */
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
 * The gateway says when any of it has changed.
 *
 * @param lists paths in the API, with their queries
 * @param everyMs asks by the clock too: for what changes while nothing happens
 * @param gatherMs one answer for all changes of so long: for what costs more than a page of a list
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

/** What the API has at a path, as of now. */
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
