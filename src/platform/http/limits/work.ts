/** Tells how the time of a request counts as work, and when the request waits for somebody else. */
import type { Exchange, RequestContext } from '../route.ts'
import type { Use } from './concurrency.ts'

/** Undefined where it may wait for others at any time, or nobody knows who asks. */
export const useOf = ({ route }: Exchange): Use | undefined => {
  if (route === undefined) return undefined
  if (route.document.idempotent === true) return 'writing'
  const isReading = route.method === 'GET' || route.isPure === true
  return isReading && route.scope !== 'public' && route.asksOthers !== true ? 'reading' : undefined
}

/** Waits for somebody else: a caller's body, a network's node. The time of others makes no room smaller. */
export const away = <T>({ env }: RequestContext, wait: Promise<T>): Promise<T> => {
  const use = useOf(env)
  return use !== undefined && env.rooms ? env.rooms.away(wait, use) : wait
}
