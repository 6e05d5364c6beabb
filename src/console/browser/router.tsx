import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

const base = '/console'

/** The place of the page: a path below `/console`, and the query of the address. */
export type Place = {
  readonly path: string
  readonly query: URLSearchParams
  /** The text that `go` was given. It stays out of the address, which others log. */
  readonly given: string
}

const placeNow = (): Place => ({
  path: location.pathname.slice(base.length) || '/',
  query: new URLSearchParams(location.search),
  given: typeof history.state?.given === 'string' ? history.state.given : '',
})

/** The place that the page must not leave now, if there is one. */
let kept: { readonly href: string; readonly state: unknown } | undefined

/** @param given a text for the page that stays out of the address */
export const go = (to: string, given = ''): void => {
  history.pushState({ given }, '', base + to)
  dispatchEvent(new PopStateEvent('popstate'))
}

export const usePlace = (): Place => {
  const [place, setPlace] = useState(placeNow)
  // A plain effect runs after the page is painted: a link followed before then would lead nowhere.
  useLayoutEffect(() => {
    const follow = ({ isTrusted }: Event) => {
      if (kept !== undefined && isTrusted) history.pushState(kept.state, '', kept.href)
      else setPlace(placeNow())
    }
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  return place
}

/** Keeps the page where it is, whatever the browser's own buttons say; `go` still works. @returns ends that */
export const stay = (): (() => void) => {
  kept = { href: location.href, state: history.state }
  const ask = (event: Event) => event.preventDefault()
  addEventListener('beforeunload', ask)
  return () => {
    kept = undefined
    removeEventListener('beforeunload', ask)
  }
}

type LinkProps = {
  readonly to: string
  readonly class?: string
  readonly current?: boolean
  readonly children: ComponentChildren
}

/** A link within the console: it has an address of its own, and a plain click opens it in place. */
export const Link = ({ to, current, children, ...rest }: LinkProps) => (
  <a
    {...rest}
    href={base + to}
    aria-current={current === true ? 'page' : undefined}
    onClick={(event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
      event.preventDefault()
      go(to)
    }}
  >
    {children}
  </a>
)

/** A link whose text is an identifier. */
export const IdLink = ({ to, children }: Pick<LinkProps, 'to' | 'children'>) => (
  <Link to={to} class="mono">
    {children}
  </Link>
)
