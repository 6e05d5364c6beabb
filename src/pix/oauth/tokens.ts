import { createHash, randomBytes } from 'node:crypto'
import { type Client, deleteInBatches } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { TokenSource } from '#src/platform/security/index.ts'
import { addToken, findToken, forgetSomeTokens, type NewToken } from './store.ts'

const prefix = 'trlt_'
const secretBytes = 32
const form = /^trlt_[A-Za-z0-9_-]{43}$/
const sweepEveryMs = 600_000

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** The tokens of this gateway. Only their hashes are stored. */
export const createTokenSource = (sql: Client): TokenSource => ({
  isToken: (text) => text.startsWith(prefix),
  find: async (text) => (form.test(text) ? findToken(sql, hashOf(text)) : undefined),
})

export type IssueToken = (
  token: NewToken,
) => Promise<{ readonly text: string; readonly seconds: number }>

export const createIssue =
  (sql: Client): IssueToken =>
  async (token) => {
    const text = prefix + randomBytes(secretBytes).toString('base64url')
    return { text, seconds: await addToken(sql, hashOf(text), token) }
  }

export const forgetTokens = (sql: Client, round?: Round): Promise<number> =>
  deleteInBatches(() => forgetSomeTokens(sql), round)

export const createTokenSweep = (sql: Client, logger: Logger): Job =>
  createJob({
    name: 'expired tokens',
    everyMs: sweepEveryMs,
    fleet: { sql },
    logger,
    run: (round) => forgetTokens(sql, round),
  })
