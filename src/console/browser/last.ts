import { useRef, useState } from 'preact/hooks'
import { type Refusal, refusalOf } from './api.ts'

/**
 * The answer to what was asked last: that to an earlier question may come later, and is not shown.
 *
 * @returns the answer, and what asks; with nothing to ask, nothing is shown
 */
export const useLast = <T>(): readonly [
  T | Refusal | undefined,
  (asked?: Promise<T>) => Promise<void>,
] => {
  const [shown, setShown] = useState<T | Refusal>()
  const turn = useRef(0)
  const ask = async (asked?: Promise<T>) => {
    turn.current += 1
    const own = turn.current
    const answer = await asked?.catch(refusalOf)
    if (own === turn.current) setShown(answer)
  }
  return [shown, ask]
}
