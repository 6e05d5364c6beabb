import { createGatherer } from '#src/platform/database/index.ts'
import type { Told } from './types.ts'

/** More tokens are never sent at once: their answer would be longer than what is read of one. */
const tokensMaxMax = 100
const tokensMaxForm = /^[1-9]\d{0,3}$/
/** More calls than connections wait for one another. */
const callsMax = 128
const waitingMax = 10_000

const lineFeed = 0x0a
const semicolon = 0x3b

export type Ask = (token: string) => Promise<Told>
/** What the vault answered for several tokens; without `lines` the answer cannot be used. */
export type AskMany = (
  tokens: readonly string[],
) => Promise<{ readonly status: number; readonly lines: readonly Told[] }>

/**
 * Asks for the tokens of one turn of the event loop together, once the vault has said that it takes several: a call costs
 * both sides more than all else that they do for a payment.
 */
export const gathering = (alone: Ask, many: AskMany): Ask => {
  let tokensMax = 1
  let together: (token: string) => Promise<Outcome | Promise<Outcome>> = alone

  const take = (told: string | undefined): void => {
    const taken = told !== undefined && tokensMaxForm.test(told) ? Number(told) : 1
    const next = Math.min(taken, tokensMaxMax)
    if (next === tokensMax) return
    tokensMax = next
    together =
      next === 1
        ? alone
        : createGatherer<string, Outcome | Promise<Outcome>>({
            rowsMax: next,
            writersMax: callsMax,
            waitingMax,
            isRowFault: () => false,
            write: askAll,
          })
  }

  const first: Ask = async (token) => {
    const told = await alone(token)
    if (told.status === 200) take(told.tokensMax)
    return told
  }

  const askAll = async (
    tokens: readonly string[],
  ): Promise<readonly (Outcome | Promise<Outcome>)[]> => {
    const [only] = tokens
    if (tokens.length === 1 && only !== undefined) return [await outcomeOf(first(only))]
    const all = await many(tokens).catch(() => undefined)
    if (all?.lines.length === tokens.length) return all.lines
    // The vault answered something else, or one token kept it from answering at all.
    take(undefined)
    // Each is answered by itself: one that is slow holds up nobody else.
    return tokens.map((token) => outcomeOf(alone(token)))
  }

  return async (token) => {
    if (tokensMax === 1) return first(token)
    const outcome = await together(token)
    if (outcome instanceof Error) throw outcome
    return outcome
  }
}

/** One token's failure must not affect the others. */
type Outcome = Told | Error

const outcomeOf = (told: Promise<Told>): Promise<Outcome> =>
  told.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))

/**
 * The answers in a body of one line for each token: its digits, its expiry, its cryptogram, with semicolons between them,
 * where there are any; nothing of a token that is not known.
 *
 * @returns buffers that the caller owns; none if there is another number of lines. `body` is left as it is
 */
export const linesIn = (body: Uint8Array, count: number): readonly Told[] => {
  const all: Told[] = []
  let from = 0
  for (let end = body.indexOf(lineFeed); end !== -1; end = body.indexOf(lineFeed, from)) {
    all.push(lineOf(body.subarray(from, end)))
    from = end + 1
  }
  if (all.length === count && from === body.length) return all
  for (const { body: pan } of all) pan.fill(0)
  return []
}

const lineOf = (line: Uint8Array): Told => {
  const end = line.indexOf(semicolon)
  const body = new Uint8Array(end === -1 ? line : line.subarray(0, end))
  const [expiry, cryptogram] =
    end === -1
      ? []
      : Buffer.from(line.subarray(end + 1))
          .toString('latin1')
          .split(';')
  return {
    status: line.length === 0 ? 404 : 200,
    body,
    expiry: expiry || undefined,
    cryptogram: cryptogram || undefined,
  }
}
