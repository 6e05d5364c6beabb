import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

const base = '/console'

/** Where the page is: a path below `/console`, and what the address asks for. */
export type Place = {
  readonly path: string
  readonly query: URLSearchParams
  /** What was given on the way there. It stays out of the address, which others log. */
  readonly given: string
}

const placeNow = (): Place => ({
  path: location.pathname.slice(base.length) || '/',
  query: new URLSearchParams(location.search),
  given: typeof history.state?.given === 'string' ? history.state.given : '',
})

/** Where the page stays for now, if it does. */
let kept: { readonly href: string; readonly state: unknown } | undefined

/** @param given what the page is given beside its address */
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

/** Keeps the page where it is, whatever the browser's own buttons say; `go` still leads on. @returns ends that */
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

/** A link within the console: an address of its own, opened in place by a plain click. */
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

/** To the page of what is known by an identifier. */
export const IdLink = ({ to, children }: Pick<LinkProps, 'to' | 'children'>) => (
  <Link to={to} class="mono">
    {children}
  </Link>
)
