import { type Client, createGatherer, isRowFault } from '#src/platform/database/index.ts'
import { httpErrors, refuseWhenBusy } from '#src/platform/http/index.ts'
import { type Presented, presentedAt } from './store.ts'

/** Locations of one statement, and statements at once: the next is filled while one runs. */
const rowsMax = 64
const statementsMax = 4
const waitingMax = 5_000

/**
 * Reads what a location shows. Those that are read while a statement runs share the next.
 *
 * @returns undefined: it shows nothing
 * @throws ApiError 503 if too many wait
 */
export const createPayloadReader = (
  sql: Client,
): ((token: string) => Promise<Presented | undefined>) => {
  const read = createGatherer<string, Presented | undefined>({
    rowsMax,
    writersMax: statementsMax,
    waitingMax,
    isRowFault,
    write: async (tokens) => {
      const found = await presentedAt(sql, [...new Set(tokens)])
      return tokens.map((token) => found.get(token))
    },
  })
  const refuse = refuseWhenBusy(httpErrors.unavailable, 'Payloads demais esperam para ser lidos.')
  return (token) => read(token).catch(refuse)
}
