import {
  type Client,
  createGatherer,
  isTransientDatabaseError,
} from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { LateAnswer } from '../networks/index.ts'
import { attachLateAnswers, type LateAnswerRow } from '../transactions/store.ts'

const rowsMax = 200
/** If more wait to be written, the network only logs and counts them. */
const waitingMax = 1_000

/**
 * Stores answers that came too late with their transactions, as events. They change nothing: their operation is being
 * reversed, and a late approval is not a success.
 */
export const createLateAnswers = (
  sql: Client,
  logger: Logger,
): ((answer: LateAnswer) => Promise<void>) => {
  const attach = createGatherer<LateAnswerRow, string | undefined>({
    rowsMax: rowsMax,
    writersMax: 1,
    waitingMax: waitingMax,
    isRowFault: (error) => !isTransientDatabaseError(error),
    write: (rows) => attachLateAnswers(sql, rows),
  })
  return async ({ network, response, receivedAt }) => {
    const { mti, stan = null, rrn, responseCode = null, authCode = null } = response
    if (rrn === undefined) return
    const data = { mti, stan, response_code: responseCode, auth_code: authCode }
    try {
      const id = await attach({ network, rrn: rrn.trimEnd(), at: receivedAt, data })
      logger.warn(
        { network, mti, stan, rrn, transaction_id: id ?? null },
        id === undefined ? 'a late answer belongs to no transaction' : 'a late answer was kept',
      )
    } catch (err) {
      logger.error({ network, mti, stan, rrn, err }, 'a late answer was not kept')
    }
  }
}
