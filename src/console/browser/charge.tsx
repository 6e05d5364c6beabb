import { ActButtons, allowed, useActs } from './act.tsx'
import { ifThere, type Session, send, type ThingProps, useAnswer, useLoaded } from './api.ts'
import { chargeActs } from './charge-acts.tsx'
import {
  type Attempt,
  amountOf,
  type Kind,
  kindsOf,
  personText,
  placeOf,
  type Step,
  type Told,
} from './charge-kinds.ts'
import { chargeWords as w } from './charge-words.ts'
import { dayOf, reais, timeOf } from './format.ts'
import { Back, ThingHead } from './heads.tsx'
import { partsEveryMs, useFollowed } from './live.ts'
import { Card, Copy, type Fact, Facts, knownFacts, orNone, Refused, Shown } from './parts.tsx'
import { Machine, Timeline } from './payment.tsx'
import type { Moment } from './payment-load.ts'
import { paymentWords } from './payment-words.ts'
import { IdLink } from './router.tsx'
import { Badge, statusText } from './state.tsx'
import { fill, words } from './words.ts'

/** The page of one charge, Pix, recurrence or request: its contents, its history and its acts. */
export const ChargePage = ({ kind, id, session }: ThingProps & { readonly kind: Kind }) => {
  const path = `/pix/v2/${kind}/${encodeURIComponent(id)}` as const
  const loaded = useFollowed<Told>(path)
  const { ask, dialog } = useActs(loaded.again)
  return (
    <>
      <Back to={`/charges?show=${kind}`} text={kindsOf[kind].label} />
      <Shown loaded={loaded}>
        {(told) => (
          <>
            <ThingHead
              title={amountOf(told) || kindsOf[kind].label}
              isAmount
              status={told.status}
              id={id}
            >
              <ActButtons acts={allowed(session, chargeActs(kind, told))} ask={ask} />
              <Copy text={id} label={words.copy} />
              <Copy text={location.href} label={words.copyLink} />
            </ThingHead>
            <div class="columns">
              <div class="stack">
                <Timeline moments={momentsOf(told)} />
                {kind === 'rec' && session.scopes.includes('solicrec:read') && (
                  <Requests key={String(loaded.turn)} id={id} />
                )}
                <ScanCode told={told} session={session} />
              </div>
              <div class="stack">
                <Card title={paymentWords.summary}>
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

/** The list of payments, searched for this Pix. */
const paymentOf = (endToEndId: string): string =>
  `/payments?${new URLSearchParams({ rail: 'spi', find: endToEndId })}`

const stepsOf = (steps: readonly Step[] = []): readonly Moment[] =>
  steps.map(({ status, data }) => ({ at: data, what: statusText(status), how: '', status }))

const attemptMoments = ({ dataLiquidacao, endToEndId, atualizacao, rejeicao }: Attempt) =>
  atualizacao.map(({ status, data }) => ({
    at: data,
    what: `${fill(w.attempt, { day: dayOf(`${dataLiquidacao}T12:00:00Z`) })}: ${statusText(status)}`,
    how: rejeicao === undefined ? endToEndId : `${rejeicao.codigo} · ${rejeicao.descricao}`,
    status,
    to: paymentOf(endToEndId),
  }))

const paidMoments = (pix: Told): readonly Moment[] => [
  ...(pix.horario === undefined
    ? []
    : [
        {
          at: pix.horario,
          what: `${w.paidBy} ${amountOf(pix)}`,
          status: 'CONCLUIDA',
          how: pix.endToEndId ?? '',
          to: paymentOf(pix.endToEndId ?? ''),
        },
      ]),
  ...(pix.devolucoes ?? []).map(({ id, valor, status, horario }) => ({
    at: horario.solicitacao,
    what: `${reais(valor)} ${w.returned}`,
    status,
    how: `${id} · ${statusText(status)}`,
  })),
]

/** Its own history, and the Pix that paid it. */
const momentsOf = (told: Told): readonly Moment[] => {
  const created = told.calendario?.criacao
  const isMoment = created?.includes('T') === true && told.atualizacao === undefined
  return [
    ...(isMoment ? [{ at: created, what: w.created, how: '', status: 'CRIADA' }] : []),
    ...stepsOf(told.atualizacao),
    ...(told.tentativas ?? []).flatMap(attemptMoments),
    ...[told, ...(told.pix ?? [])].flatMap(paidMoments),
  ].toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

/** The time until which a charge may be paid. */
const endOf = ({ calendario }: Told): string | undefined => {
  const { criacao, expiracao } = calendario ?? {}
  if (criacao === undefined || expiracao === undefined) return undefined
  const at = new Date(Date.parse(criacao) + expiracao * 1_000).toISOString()
  return momentText(at)
}

const momentText = (at: string): string => `${dayOf(at)} ${timeOf(at).slice(0, 8)}`

const endingText = ({ encerramento }: Told): string | undefined => {
  const reason = encerramento?.rejeicao ?? encerramento?.cancelamento
  return reason && `${reason.codigo} · ${reason.descricao}`
}

const retriesText = (policy: string | undefined): string | undefined => {
  if (policy === undefined) return undefined
  return policy === 'NAO_PERMITE' ? w.none : statusText(policy)
}

const factsOf = (kind: Kind, told: Told): readonly Fact[] => {
  const { calendario = {}, vinculo, recPayload } = told
  const recurrence = kind === 'rec' ? undefined : told.idRec
  const terms = vinculo ?? recPayload?.vinculo
  return knownFacts([
    [w.recurrence, recurrence && <IdLink to={placeOf('rec', recurrence)}>{recurrence}</IdLink>],
    [w.payer, personText(told.devedor ?? terms?.devedor ?? told.destinatario)],
    [w.institution, told.pagador?.ispbParticipante ?? told.destinatario?.ispbParticipante],
    [w.contract, terms?.contrato],
    [w.object, terms?.objeto],
    [w.period, calendario.periodicidade && statusText(calendario.periodicidade)],
    [w.starts, calendario.dataInicial],
    [w.ends, calendario.dataFinal],
    [w.due, calendario.dataDeVencimento],
    [w.validDays, calendario.validadeAposVencimento],
    [w.expires, endOf(told)],
    [
      w.answerBy,
      calendario.dataExpiracaoSolicitacao && momentText(calendario.dataExpiracaoSolicitacao),
    ],
    [w.retries, retriesText(told.politicaRetentativa)],
    [w.journey, told.ativacao?.tipoJornada && statusText(told.ativacao.tipoJornada)],
    ['txid', kind === 'pix' ? told.txid : undefined],
    [w.key, told.chave],
    [w.question, told.solicitacaoPagador ?? told.infoAdicional ?? told.infoPagador],
    [w.location, told.location],
    [w.ending, endingText(told)],
  ])
}

type Request = {
  readonly id: string
  readonly status: string
  readonly payer_ispb: string
  readonly created_at: string
}

/** The requests to the payer of a recurrence. */
const Requests = ({ id }: { readonly id: string }) => {
  const path = `/v1/pix/recurrence-requests?${new URLSearchParams({ recurrence_id: id })}`
  const loaded = useAnswer<{ requests: readonly Request[] }>(path, partsEveryMs)
  return (
    <Card title={w.solicrec}>
      <Shown loaded={loaded}>
        {({ requests }) =>
          orNone(
            requests,
            w.notAsked,
            <ul class="parties">
              {requests.map((one) => (
                <li key={one.id}>
                  <IdLink to={placeOf('solicrec', one.id)}>{one.id}</IdLink>
                  <Badge status={one.status} />
                  <span class="how">
                    {one.payer_ispb} · {momentText(one.created_at)}
                  </span>
                </li>
              ))}
            </ul>,
          )
        }
      </Shown>
    </Card>
  )
}

type Picture = { readonly image?: { readonly media_type: string; readonly data: string } }

/** Its Pix code; we draw it for sessions that may read codes. */
const ScanCode = ({ told, session }: { readonly told: Told; readonly session: Session }) => {
  const text = told.pixCopiaECola ?? told.dadosQR?.pixCopiaECola
  const isDrawn = text !== undefined && session.scopes.includes('qrcodes:use')
  const loaded = useLoaded(`code ${isDrawn ? text : ''}`, async () => {
    if (!isDrawn) return {}
    return ifThere(send<Picture>('POST', '/v1/qrcodes/parse', { payload: text, image: 'png' }))
  })
  if (text === undefined) return null
  const { image } = (loaded.value ?? {}) as Picture
  return (
    <Card title={w.code} aside={<Copy text={text} label={words.copy} />}>
      {image !== undefined && (
        <img class="qr" alt={w.picture} src={`data:${image.media_type};base64,${image.data}`} />
      )}
      {loaded.error !== undefined && <Refused refusal={loaded.error} />}
      <code class="secret">{text}</code>
    </Card>
  )
}
