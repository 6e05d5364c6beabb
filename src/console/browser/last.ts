import { useRef, useState } from 'preact/hooks'
import { type Refusal, refusalOf } from './api.ts'

/**
 * The answer to the last question. The answer to an earlier one may come later; we do not show it.
 *
 * @returns the answer, and a function that asks; called with nothing, it clears the answer
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
