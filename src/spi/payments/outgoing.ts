import { buildMessage, formatCents } from '#codecs/iso20022'
import { maskedTaxId } from '#codecs/taxpayer'
import type { Queryable } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  type Away,
  actorOf,
  type Caller,
  type ErrorDefinition,
  httpErrors,
  orReplay,
  refusedValue,
  replayOf,
  runOnce,
  type Violation,
  writeAudit,
} from '#src/platform/http/index.ts'
import { enqueueMessages, momentOf } from '../messages/index.ts'
import { outboundOf } from '../out/send/outbound.ts'
import { brokenRules } from '../out/send/rules.ts'
import { random } from '../random.ts'
import { paymentErrors } from './errors.ts'
import type { PayBody } from './outgoing-documents.ts'
import type { PaymentDeps } from './service.ts'

/** Who is paid by a key, as the directory has it. */
type KeyPayee = {
  /** The EndToEndId of the lookup, and so of the payment. */
  readonly endToEndId: string
  readonly entry: {
    readonly key: string
    readonly owner: { readonly name: string; readonly taxIdNumber: string }
    readonly account: {
      readonly participant: string
      readonly branch?: string | undefined
      readonly accountNumber: string
      readonly accountType: string
    }
  }
  readonly take: (tx: Queryable) => Promise<void>
  readonly paid: () => void
}

/** Cash that the payer is handed out: all that is paid, or what is paid beside a purchase. */
type Withdrawal = {
  readonly kind: 'saque' | 'troco'
  readonly purchaseCents: number
  readonly agent: string
  readonly facilitator: string
}

/** The features that know keys and codes. */
export type PayeePorts = {
  /** Undefined: the directory is not configured; `missing` names the settings. */
  readonly payee:
    | ((
        asked: { readonly key: string; readonly payer: string },
        lookup: string | undefined,
        caller: Caller,
      ) => Promise<KeyPayee>)
    | undefined
  readonly missing: readonly string[]
  /** What may come of asking for payees, or of reading a code. */
  readonly errors: readonly ErrorDefinition[]
  readonly readCode: (
    text: string,
    now: Date,
    account: string,
  ) => Promise<{
    readonly kind: 'static' | 'dynamic'
    readonly key: string
    readonly txid: string | undefined
    readonly amountCents: number | undefined
    readonly isOpen: boolean
    readonly withdrawal: Withdrawal | undefined
  }>
}

/** @param away takes the request out of our hands while directory or charge is asked for */
export type Pay = (body: PayBody, caller: Caller, away: Away) => Promise<Answered>

type Method = 'key' | 'static_code' | 'dynamic_code' | 'account'

/** All that a payment needs, resolved. */
type Order = {
  readonly method: Method
  readonly amountCents: number
  readonly txid: string | undefined
  readonly creditor: {
    readonly ispb: string
    readonly name: string | undefined
    readonly document: string
    readonly branch: string | undefined
    readonly account: string
    readonly accountType: string
    readonly key: string | undefined
  }
  readonly payee: KeyPayee | undefined
  readonly withdrawal: Withdrawal | undefined
}

const instruments: Readonly<Record<Method, string>> = {
  key: 'DICT',
  static_code: 'QRES',
  dynamic_code: 'QRDN',
  account: 'MANU',
}

/**
 * Pays by key, code or account. Directory and charge are read before the transaction, which alone pays: what fails
 * before it has paid nothing. A repetition under the Idempotency-Key asks nobody again.
 */
export const createPay = (deps: PaymentDeps, ports: PayeePorts): Pay => {
  const resolve = createResolve(deps, ports)
  return async (body, caller, away) => {
    demandOne(body)
    const replay = await replayOf(deps.sql, caller.idempotencyKey)
    if (replay !== undefined) return replay
    const order = await orReplay(deps.sql, caller.idempotencyKey, () => away(resolve(body, caller)))
    if ('isReplay' in order) return order
    const answered = await runOnce(deps.sql, caller.idempotencyKey, async (tx) => {
      await order.payee?.take(tx)
      return { status: 202, body: JSON.stringify(await queue(tx, body, order, caller, deps)) }
    })
    if (!answered.isReplay) order.payee?.paid()
    return answered
  }
}

const ways = ['key', 'qr_code', 'account'] as const
const wayOf = (body: PayBody) => ways.find((way) => body[way] !== undefined)

/** @throws ApiError unless the body says one way to pay, and only what goes with it */
const demandOne = (body: PayBody): void => {
  const given = ways.filter((way) => body[way] !== undefined)
  const faults: Violation[] = []
  if (given.length !== 1) {
    const message = 'exactly one of key, qr_code and account is needed'
    faults.push({ pointer: '', rule: 'exactly_one', message })
  }
  if (body.end_to_end_id !== undefined && body.key === undefined) {
    const message = 'goes with key alone'
    faults.push({ pointer: '/end_to_end_id', rule: 'combination', message })
  }
  if (body.amount === undefined && body.qr_code === undefined) {
    faults.push({ pointer: '/amount', rule: 'required', message: 'is needed' })
  }
  if (faults.length > 0) throw refusedValue(faults)
}

const createResolve = ({ now }: PaymentDeps, { payee, missing, readCode }: PayeePorts) => {
  const byKey = async (
    key: string,
    body: PayBody,
    caller: Caller,
    rest: Pick<Order, 'method' | 'amountCents' | 'txid' | 'withdrawal'>,
  ): Promise<Order> => {
    if (payee === undefined) {
      const message = `Payments by key need ${missing.join(', ')}.`
      throw new ApiError(httpErrors.not_configured, message, { details: { settings: missing } })
    }
    const found = await payee({ key, payer: body.debtor.document }, body.end_to_end_id, caller)
    const { owner, account } = found.entry
    const order: Order = {
      ...rest,
      payee: found,
      creditor: {
        ispb: account.participant,
        name: owner.name,
        document: owner.taxIdNumber,
        key,
        branch: account.branch,
        account: account.accountNumber,
        accountType: account.accountType,
      },
    }
    return expected(order, body)
  }

  return async (body: PayBody, caller: Caller): Promise<Order> => {
    const { key, qr_code: code, account, amount = 0 } = body
    if (key !== undefined) {
      const plain = { txid: undefined, withdrawal: undefined }
      return byKey(key, body, caller, { method: 'key', amountCents: amount, ...plain })
    }
    if (code !== undefined) {
      const payable = await readCode(code, now(), caller.owner)
      const method = payable.kind === 'static' ? 'static_code' : 'dynamic_code'
      const amountCents = amountOf(payable, body.amount)
      const { key: payee, txid, withdrawal } = payable
      demandCash(withdrawal, amountCents, body)
      return byKey(payee, body, caller, { method, amountCents, txid, withdrawal })
    }
    const { ispb = '', document = '', branch, account_num = '', account_type = '' } = account ?? {}
    const creditor = {
      ispb,
      document,
      branch,
      account: account_num,
      accountType: account_type,
      name: undefined,
      key: undefined,
    }
    const none = { txid: undefined, payee: undefined, withdrawal: undefined }
    return expected({ method: 'account', amountCents: amount, creditor, ...none }, body)
  }
}

/** @throws ApiError if somebody else would be paid than the payer expects */
const expected = (order: Order, { creditor_document: document }: PayBody): Order => {
  if (document === undefined || document === order.creditor.document) return order
  throw new ApiError(
    paymentErrors.payee_differs,
    'Who would be paid has another CPF or CNPJ than creditor_document.',
  )
}

/** @throws ApiError if code and request do not agree on an amount; a code of nothing has none */
const amountOf = (
  {
    amountCents = 0,
    isOpen,
  }: { readonly amountCents: number | undefined; readonly isOpen: boolean },
  asked: number | undefined,
): number => {
  if (asked === undefined && amountCents > 0) return amountCents
  if (asked === undefined) {
    const message = 'is needed: the code leaves it to the payer'
    throw refusedValue([{ pointer: '/amount', rule: 'required', message }])
  }
  if (amountCents === 0 || isOpen || asked === amountCents) return asked
  throw new ApiError(
    paymentErrors.amount_differs,
    `The code asks for ${formatCents(BigInt(amountCents))}.`,
    { details: { amount: formatCents(BigInt(amountCents)) } },
  )
}

/** @throws ApiError if what is paid leaves nothing to hand out */
const demandCash = (
  withdrawal: Withdrawal | undefined,
  amountCents: number,
  { amount }: PayBody,
): void => {
  if (withdrawal === undefined || amountCents > withdrawal.purchaseCents) return
  const message = 'must be more than the purchase, for the rest is handed out in cash'
  const pointer = amount === undefined ? '/qr_code' : '/amount'
  throw refusedValue([{ pointer, rule: 'minimum', message }])
}

/** The members of a pacs.008 that tell of cash. */
const cashIn = ({ withdrawal, amountCents }: Order): object => {
  if (withdrawal === undefined) return {}
  const { kind, purchaseCents, agent, facilitator } = withdrawal
  const common = { agent_type: agent, agent_ispb: facilitator }
  const cash = { ...common, cash_amount: amountCents - purchaseCents }
  return kind === 'saque'
    ? { purpose: 'OTHR', withdrawal: cash }
    : { purpose: 'GSCB', withdrawal: { ...cash, purchase_amount: purchaseCents } }
}

/** Members that a request and the parameters of its message name alike. */
const sameMembers = ['amount', 'debtor', 'end_to_end_id', 'remittance_information'] as const

const paramsOf = (body: PayBody, order: Order, ispb: string) => {
  const { creditor, txid, payee, amountCents } = order
  const { branch, key } = creditor
  const { remittance_information: remittance } = body
  return {
    local_instrument: instruments[order.method],
    transactions: [
      {
        amount: amountCents,
        ...(payee === undefined ? {} : { end_to_end_id: payee.endToEndId }),
        ...(txid === undefined ? {} : { transaction_id: txid }),
        debtor: { ispb, ...body.debtor },
        creditor: {
          ispb: creditor.ispb,
          document: creditor.document,
          account_num: creditor.account,
          account_type: creditor.accountType,
          ...(branch === undefined ? {} : { branch }),
          ...(key === undefined ? {} : { proxy: key }),
        },
        ...(remittance === undefined ? {} : { remittance_information: remittance }),
        ...cashIn(order),
      },
    ],
  }
}

const queue = async (
  tx: Queryable,
  body: PayBody,
  order: Order,
  caller: Caller,
  { broker, ispb, revision, now }: PaymentDeps,
) => {
  const params = paramsOf(body, order, ispb)
  const nowMs = now().getTime()
  const build = buildMessage('PACS008', params, { ispb, nowMs, random, revision })
  const problems = build.ok ? brokenRules('PACS008', params, { ispb, nowMs }) : build.problems
  if (!build.ok || problems.length > 0) throw refusedValue(problems.map(pointed(body)))
  const message = outboundOf(build.message, { ispb, channel: 'PRIMARY' })
  await enqueueMessages(tx, broker, [message])
  await writeAudit(tx, {
    actor: actorOf(caller),
    action: 'spi.pay',
    object: message.id,
    outcome: 'queued',
  })
  return viewOf(order, build.message.endToEndIds[0] ?? '', message.id)
}

/** Names the member of the request that is refused; of what directory or code have told, key or code. */
const pointed =
  (body: PayBody) =>
  (problem: Violation): Violation => {
    const [place = '', member] = /^\/transactions\/0\/([^/]+)/.exec(problem.pointer) ?? []
    const rest = problem.pointer.slice(place.length)
    const same = sameMembers.find((one) => one === member && body[one] !== undefined)
    if (same !== undefined) return { ...problem, pointer: `/${same}${rest}` }
    const isAccount = body.account !== undefined && member === 'creditor'
    return { ...problem, pointer: isAccount ? `/account${rest}` : `/${wayOf(body)}` }
  }

const viewOf = (order: Order, endToEndId: string, messageId: string) => {
  const { ispb, name, document } = order.creditor
  return {
    end_to_end_id: endToEndId,
    status: 'pending',
    amount: formatCents(BigInt(order.amountCents)),
    method: order.method,
    creditor: {
      ispb,
      name: name ?? null,
      tax_id: maskedTaxId(document),
    },
    transaction_id: order.txid ?? null,
    message_id: messageId,
    created_at: momentOf(messageId).toISOString(),
  }
}
