import { ActButtons, useActs } from './act.tsx'
import { getJson, type ThingProps, useLoaded } from './api.ts'
import { kindText } from './directory.tsx'
import { directoryActs } from './directory-acts.tsx'
import {
  amountOf,
  type Kind,
  kindsOf,
  matterOf,
  otherOf,
  pathOf,
  type Told,
} from './directory-kinds.ts'
import { codeText, directoryWords as w } from './directory-words.ts'
import { reais } from './format.ts'
import { Back, ThingHead } from './heads.tsx'
import { partsEveryMs, whenChanged } from './live.ts'
import { Card, Copy, type Fact, Facts, knownFacts, Shown } from './parts.tsx'
import { Machine, Timeline } from './payment.tsx'
import { deliveriesOf, type Moment } from './payment-load.ts'
import { paymentWords } from './payment-words.ts'
import { IdLink } from './router.tsx'
import { statusText } from './state.tsx'
import { Moment as At } from './table.tsx'
import { words } from './words.ts'

/** The page of one claim, report or request: its contents, its history and its acts. */
export const DirectoryPage = ({ kind, id, session }: ThingProps & { readonly kind: Kind }) => {
  const path = pathOf(kind, { id })
  const loaded = useLoaded(
    path,
    async (purpose) => {
      const [told, deliveries] = await Promise.all([
        getJson<Told>(path, purpose),
        deliveriesOf(id, purpose),
      ])
      return { told, moments: momentsOf(told, deliveries) }
    },
    whenChanged(path, partsEveryMs),
  )
  const { ask, dialog } = useActs(loaded.again)
  return (
    <>
      <Back to={`/pix-keys?show=${kind}`} text={kindsOf[kind].label} />
      <Shown loaded={loaded}>
        {({ told, moments }) => (
          <>
            <ThingHead
              title={amountOf(told) || kindText(told)}
              isAmount
              status={told.status}
              id={matterOf(told)}
            >
              <ActButtons acts={directoryActs(session, kind, told)} ask={ask} />
              <Copy text={matterOf(told)} label={words.copy} />
              <Copy text={location.href} label={words.copyLink} />
            </ThingHead>
            <div class="columns">
              <Timeline moments={moments} />
              <div class="stack">
                <Card title={paymentWords.summary}>
                  {told.refusal !== null && (
                    <p role="alert">
                      {w.refusal}: {told.refusal}
                    </p>
                  )}
                  <Facts facts={factsOf(kind, told)} />
                </Card>
                <Machine decoded={told} />
              </div>
            </div>
          </>
        )}
      </Shown>
      {dialog}
    </>
  )
}

const moment = (
  at: string | null | undefined,
  what: string,
  status: string,
  how = '',
): readonly Moment[] => (at ? [{ at, what, how, status }] : [])

const isOver = ({ status }: Told): boolean =>
  ['completed', 'closed', 'cancelled', 'refused'].includes(status)

/** The history, the webhook deliveries and the coming deadlines. */
const momentsOf = (told: Told, deliveries: readonly Moment[]): readonly Moment[] => {
  const { next, created_at: created, modified_at: modified } = told
  const changed = modified === null || modified === created ? null : modified
  const coming = [
    ...moment(told.resolution_ends_at, w.resolutionEnds, 'open'),
    ...moment(told.completion_ends_at, w.completionEnds, 'open'),
    ...moment(told.answer_until, w.answerUntil, 'open'),
    ...moment(next?.at, codeText(next?.act ?? ''), 'open', w.byItself),
  ]
  return [
    ...moment(created, w.opened, 'created', codeText(told.role)),
    ...moment(changed, statusText(told.status), told.status),
    ...moment(told.returned_at, w.returned, 'settled', told.return_id ?? ''),
    ...deliveries,
    // A deadline is coming only if it is ahead by our own clock.
    ...(isOver(told) ? [] : coming.filter(({ at }) => Date.parse(at) > Date.now())),
  ].toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

const paymentLink = (id: string) => (
  <IdLink to={`/payments?${new URLSearchParams({ rail: 'spi', find: id })}`}>{id}</IdLink>
)

const codeOf = (code: string | null | undefined): string => (code ? codeText(code) : '')
const joined = (...parts: readonly (string | null | undefined)[]): string =>
  parts.filter(Boolean).join(' · ')

const nextFact = ({ next }: Told): Fact['value'] =>
  next && (
    <>
      {joined(codeText(next.act), codeOf(next.reason))}
      {next.at !== null && (
        <>
          {' '}
          · <At at={next.at} />
        </>
      )}
    </>
  )

const returnFact = ({ return: made, return_id: id }: Told): string => {
  if (!made) return id ?? ''
  return joined(made.id, reais(made.amount), statusText(made.status), made.refusal)
}

const factsOf = (kind: Kind, told: Told): readonly Fact[] => {
  const { claimer, account, contact, transaction_id: payment } = told
  return knownFacts([
    [w.role, codeText(told.role)],
    [w.other, <code key="other">{otherOf(told)}</code>],
    [w.payment, payment && paymentLink(payment)],
    [w.key, told.key && <code>{told.key}</code>],
    [w.type, kind === 'claims' ? kindText(told) : ''],
    [w.reason, codeOf(told.reason)],
    [w.situation, codeOf(told.situation)],
    [w.amount, amountOf(told)],
    [w.details, told.details],
    [w.contact, joined(contact?.email, contact?.phone)],
    [w.claimer, joined(claimer?.name, claimer?.tax_id)],
    [w.account, joined(account?.branch, account?.number)],
    [w.asked, codeOf(told.pending)],
    [w.nextAct, told.pending === null ? nextFact(told) : ''],
    [w.confirmReason, codeOf(told.confirm_reason)],
    [w.cancelReason, codeOf(told.cancel_reason)],
    [w.cancelledBy, codeOf(told.cancelled_by)],
    [w.result, codeOf(told.result)],
    [w.fraudType, codeOf(told.fraud_type)],
    [w.fraudMarker, told.fraud_marker_id && <code>{told.fraud_marker_id}</code>],
    [w.rejection, codeOf(told.rejection_reason)],
    [w.analysis, told.analysis],
    [w.recovery, told.funds_recovery_id && <code>{told.funds_recovery_id}</code>],
    [w.returnId, returnFact(told)],
    [w.directoryId, <code key="there">{told.claim_id ?? told.directory_id ?? '–'}</code>],
  ])
}
