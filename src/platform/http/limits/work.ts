/** Which requests are work that we commit ourselves, and when they wait for somebody else. */
import type { Exchange, RequestContext } from '../route.ts'

/** How long such a request takes tells whether there is too much to do; a question without effects tells nothing. */
export const isWork = ({ route }: Exchange): boolean => route?.document.idempotent === true

/** Waits for somebody else: a caller's body, a network's node. The time of others makes no room smaller. */
export const away = <T>({ env }: RequestContext, wait: Promise<T>): Promise<T> =>
  isWork(env) && env.rooms ? env.rooms.away(wait) : wait
