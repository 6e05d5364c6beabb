import type { Wake } from './api.ts'

const reopenMs = 10_000

/**
 * The gateway says when a list has changed.
 *
 * @param list its path in the API, with its query
 */
export const whenChanged =
  (list: string): Wake =>
  (ask) => {
    let source: EventSource | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const close = () => {
      clearTimeout(timer)
      source?.close()
      source = undefined
    }
    // A page that is not seen takes none of the few connections that a browser has.
    const open = () => {
      close()
      if (document.hidden) return
      const opened = new EventSource(`/console/live?list=${encodeURIComponent(list)}`)
      opened.addEventListener('changed', ask)
      opened.addEventListener('over', lost)
      // Others are lost connections, after which the browser comes back by itself.
      opened.addEventListener('error', () => {
        if (opened.readyState === EventSource.CLOSED) lost()
      })
      source = opened
    }
    const lost = () => {
      close()
      ask()
      timer = setTimeout(open, reopenMs)
    }
    open()
    document.addEventListener('visibilitychange', open)
    return () => {
      document.removeEventListener('visibilitychange', open)
      close()
    }
  }
