import { type CardMessage, createFieldGetter } from '#codecs/iso8583'
import type { Client } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { AdviceReply, Network, TakeAdvice } from '../networks/index.ts'
import type { ReconciliationRules } from '../networks/reconciliation-form.ts'
import { createShared, type InTurn } from '../told.ts'
import { currencyLetters } from '../transactions/domain.ts'
import { dayAt, settlementDay } from './days.ts'
import { totalsOf } from './movements.ts'
import { endTold, openDayOf } from './store.ts'
import {
  agree,
  authorizationsField,
  movementKinds,
  storedTotals,
  type ToldTotals,
  type Totals,
  toldIn,
  totalFields,
} from './totals.ts'

const notSupported = '40'
const formatError = '30'
const [same, other] = [
  { code: '00', settlementCode: '1', status: 'balanced' },
  { code: '95', settlementCode: '2', status: 'different' },
] as const

const currencyOf = createFieldGetter(50)

type TotalsDeps = {
  readonly inTurn: InTurn
  readonly sql: Client
  readonly networks: readonly Pick<Network, 'name' | 'reconciliation' | 'content'>[]
  readonly logger: Logger
  readonly now: () => Date
}

/**
 * Takes the totals that a network tells of its own accord (0500, 0520) of the day in DE 15: they are compared with what
 * is booked here, kept, and answered with ours. Told again, they are answered again.
 */
export const createTotals = ({ sql, networks, logger, now, inTurn }: TotalsDeps): TakeAdvice => {
  const shared = createShared<AdviceReply>()
  const compare = async (
    network: string,
    { waitSeconds, cutOver }: ReconciliationRules,
    counts: boolean,
    { day, currency, theirs, message }: Told,
  ): Promise<AdviceReply> => {
    const ours = await totalsOf(sql, { network, day, currency })
    const { code, settlementCode, status } = agree(ours, theirs, counts) ? same : other
    const compared = {
      status,
      ours: storedTotals(ours, counts),
      theirs: storedTotals(theirs, true),
    }
    const { at } = await openDayOf(sql, network)
    const calendar = { waitSeconds, today: dayAt(at, cutOver) }
    await endTold(sql, { network, day, currency }, compared, calendar)
    logger[status === 'balanced' ? 'info' : 'error'](
      { network, day, currency },
      `the reconciliation of a business day is ${status}`,
    )
    return { code, fields: fieldsOf(ours, counts, message, settlementCode) }
  }
  return async ({ network, message }) => {
    const compared = networks.find(({ name }) => name === network)
    const rules = compared?.reconciliation
    if (compared === undefined || rules === undefined) return notSupported
    try {
      const told = totalsTold(message, now())
      if (told === undefined) return formatError
      const { countsAuthorizations } = compared.content
      // Repeats come over each connection, and each would count the whole day again.
      const { day, currency, theirs } = told
      const key = JSON.stringify([network, day, currency, storedTotals(theirs, true)])
      return await shared(key, () =>
        inTurn(() => compare(network, rules, countsAuthorizations, told)),
      )
    } catch (err) {
      logger.error({ network, err }, 'the totals of a card network were not kept')
      return undefined
    }
  }
}

type Told = {
  readonly day: string
  readonly currency: string
  readonly theirs: ToldTotals
  readonly message: CardMessage
}

/** Undefined unless it tells of which day and currency its totals are. */
const totalsTold = (message: CardMessage, at: Date): Told | undefined => {
  const day = settlementDay(message.settlementDate, at)
  const currency = currencyLetters(currencyOf(message))
  const theirs = toldIn(message)
  return day === undefined || currency === undefined || theirs === undefined
    ? undefined
    : { day, currency, theirs, message }
}

const fieldsOf = (
  ours: Totals,
  counts: boolean,
  message: CardMessage,
  settlementCode: string,
): ReadonlyMap<number, string> =>
  new Map([
    [15, message.settlementDate ?? ''],
    [50, String(currencyOf(message))],
    [66, settlementCode],
    ...(counts
      ? [[authorizationsField, String(ours.authorizations).padStart(10, '0')] as const]
      : []),
    ...movementKinds.flatMap((kind): [number, string][] => [
      [totalFields[kind].count, String(ours[kind].count).padStart(10, '0')],
      [totalFields[kind].cents, String(ours[kind].cents).padStart(16, '0')],
    ]),
  ])
