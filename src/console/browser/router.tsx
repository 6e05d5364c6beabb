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

/** @param given what the page is given beside its address */
export const go = (to: string, given = ''): void => {
  history.pushState({ given }, '', base + to)
  dispatchEvent(new PopStateEvent('popstate'))
}

export const usePlace = (): Place => {
  const [place, setPlace] = useState(placeNow)
  // A plain effect runs after the page is painted: a link followed before then would lead nowhere.
  useLayoutEffect(() => {
    const follow = () => setPlace(placeNow())
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  return place
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
