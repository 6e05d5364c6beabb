import { getJson, Refusal } from './api.ts'
import { asking } from './asking.ts'
import { chargeWords as w } from './charge-words.ts'
import { dayEnd, dayStart } from './days.tsx'
import { reais } from './format.ts'
import type { Page } from './table.tsx'

/** The members that we read of a charge, a Pix, a recurrence and their parts, named as in the API Pix (2.9.0). */
export type Told = {
  readonly txid?: string
  readonly idRec?: string
  readonly idSolicRec?: string
  readonly endToEndId?: string
  readonly id?: number
  readonly status?: string
  readonly chave?: string
  readonly location?: string
  readonly pixCopiaECola?: string
  readonly solicitacaoPagador?: string
  readonly infoAdicional?: string
  readonly infoPagador?: string
  readonly politicaRetentativa?: string
  readonly criacao?: string
  readonly devedor?: Person
  readonly recebedor?: Person
  readonly destinatario?: Person & { readonly conta?: string; readonly ispbParticipante?: string }
  readonly pagador?: Person & { readonly ispbParticipante?: string }
  readonly vinculo?: {
    readonly contrato: string
    readonly objeto?: string
    readonly devedor: Person
  }
  readonly calendario?: {
    readonly criacao?: string
    readonly expiracao?: number
    readonly dataDeVencimento?: string
    readonly validadeAposVencimento?: number
    readonly dataInicial?: string
    readonly dataFinal?: string
    readonly periodicidade?: string
    readonly dataExpiracaoSolicitacao?: string
  }
  /** A text for a Pix, an object for everything else. */
  readonly valor?: string | Value
  readonly horario?: string
  readonly ativacao?: { readonly tipoJornada?: string }
  readonly dadosQR?: { readonly pixCopiaECola: string }
  readonly atualizacao?: readonly Step[]
  readonly tentativas?: readonly Attempt[]
  readonly pix?: readonly Told[]
  readonly devolucoes?: readonly Return[]
  readonly encerramento?: {
    readonly rejeicao?: Reason
    readonly cancelamento?: Reason
  }
  readonly recPayload?: Told
}

export type Person = { readonly cpf?: string; readonly cnpj?: string; readonly nome?: string }
type Value = {
  readonly original?: string
  readonly valorRec?: string
  readonly valorMinimoRecebedor?: string
}
export type Step = { readonly status: string; readonly data: string }
type Reason = { readonly codigo: string; readonly descricao: string }
export type Attempt = {
  readonly dataLiquidacao: string
  readonly endToEndId: string
  readonly atualizacao: readonly Step[]
  readonly rejeicao?: Reason
}
type Return = {
  readonly id: string
  readonly valor: string
  readonly status: string
  readonly horario: { readonly solicitacao: string }
}

export const kinds = ['cob', 'cobv', 'pix', 'rec', 'cobr', 'solicrec', 'locrec'] as const
export type Kind = (typeof kinds)[number]

type KindOf = {
  readonly label: string
  readonly scope: string
  /** The member of the answer that holds the list; undefined: the standard has no list of this kind. */
  readonly member?: string
  readonly statuses?: readonly string[]
  readonly idOf: (told: Told) => string
}

const chargeStatuses = [
  ...['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP'],
]

export const kindsOf: Readonly<Record<Kind, KindOf>> = {
  cob: {
    label: w.cob,
    scope: 'cob:read',
    member: 'cobs',
    statuses: chargeStatuses,
    idOf: ({ txid = '' }) => txid,
  },
  cobv: {
    label: w.cobv,
    scope: 'cobv:read',
    member: 'cobs',
    statuses: chargeStatuses,
    idOf: ({ txid = '' }) => txid,
  },
  pix: {
    label: w.pix,
    scope: 'pix:read',
    member: 'pix',
    idOf: ({ endToEndId = '' }) => endToEndId,
  },
  rec: {
    label: w.rec,
    scope: 'rec:read',
    member: 'recs',
    statuses: ['CRIADA', 'APROVADA', 'REJEITADA', 'EXPIRADA', 'CANCELADA'],
    idOf: ({ idRec = '' }) => idRec,
  },
  cobr: {
    label: w.cobr,
    scope: 'cobr:read',
    member: 'cobsr',
    statuses: ['CRIADA', 'ATIVA', 'CONCLUIDA', 'EXPIRADA', 'REJEITADA', 'CANCELADA'],
    idOf: ({ txid = '' }) => txid,
  },
  solicrec: {
    label: w.solicrec,
    scope: 'solicrec:read',
    idOf: ({ idSolicRec = '' }) => idSolicRec,
  },
  locrec: {
    label: w.locrec,
    scope: 'payloadlocationrec:read',
    member: 'loc',
    idOf: ({ id = '' }) => String(id),
  },
}

export const kindIn = (text: string | null | undefined): Kind | undefined =>
  kinds.find((kind) => kind === text)

/** The path of its page. */
export const placeOf = (kind: Kind, id: string): string =>
  `/charges/${kind}/${encodeURIComponent(id)}`

/** The amount; empty if the payer chooses it. */
export const amountOf = ({ valor }: Told): string => {
  const amount =
    typeof valor === 'object'
      ? (valor.original ?? valor.valorRec ?? valor.valorMinimoRecebedor)
      : valor
  return amount === undefined ? '' : reais(amount)
}

export const personText = (person: Person | undefined): string =>
  [person?.nome, person?.cpf ?? person?.cnpj].filter(Boolean).join(' · ')

export type ChargeFilter = {
  readonly status: string
  readonly taxId: string
  /** The first and the last day, in the time of Brasília. */
  readonly from: string
  readonly to: string
}

const pageSize = 50

type Answer = Readonly<Record<string, readonly Told[] | undefined>> & {
  readonly parametros: {
    readonly paginacao: { readonly quantidadeDePaginas: number }
  }
}

/** When it was made; the standard orders its list by this time. */
export const createdAtOf = ({ calendario, horario, criacao, atualizacao }: Told): string =>
  horario ?? criacao ?? atualizacao?.[0]?.data ?? calendario?.criacao ?? ''

/** Where to read on: the number of the page, and the time of the oldest row that is shown. */
type Cursor = {
  readonly at: number
  readonly oldest?: string
  /** The ids of the shown rows of that time: the standard does not say which of them comes first. */
  readonly ids: readonly string[]
}

const cursorOf = (at: number, rows: readonly Told[], idOf: KindOf['idOf']): string => {
  const [oldest] = rows.map(createdAtOf)
  const ids = rows.filter((row) => createdAtOf(row) === oldest).map(idOf)
  return JSON.stringify({ at, oldest, ids })
}

const movedPagesMax = 10

/**
 * A row that enters among older ones pushes others onto later pages; a row newer than all others pushes none. Reads
 * these pages until one begins with a row that is shown.
 *
 * @throws Refusal more pages have moved than we read
 */
const movedRows = async (
  [from, last]: readonly [number, number],
  { oldest, ids }: Cursor,
  idOf: KindOf['idOf'],
  rowsAt: (at: number) => Promise<readonly Told[]>,
): Promise<readonly Told[]> => {
  const found: Told[] = []
  for (let at = from; at <= last; at++) {
    const rows = await rowsAt(at)
    const [head] = rows
    if (head === undefined || ids.includes(idOf(head))) break
    if (oldest !== undefined && createdAtOf(head) > oldest) break
    if (at - from === movedPagesMax) throw new Refusal(0, w.moved, '')
    found.push(...rows)
  }
  return found
}

/**
 * A page of a list of the API Pix, newest first. The standard numbers pages from the oldest on, so we show its last
 * page first. In a list of one status or one payer, older rows come and go, so a row may come twice.
 */
export const pageOfCharges = async (
  kind: Kind,
  { status, taxId, from, to }: ChargeFilter,
  cursor: string | undefined,
  purpose: 'user' | 'background' = 'user',
): Promise<Page<Told>> => {
  const { member = '', idOf } = kindsOf[kind]
  const answerAt = (at: number): Promise<Answer> => {
    const asked = {
      inicio: dayStart(from),
      fim: dayEnd(to),
      'paginacao.itensPorPagina': String(pageSize),
      status,
      [taxId.length > 11 ? 'cnpj' : 'cpf']: taxId,
      'paginacao.paginaAtual': String(at),
    }
    return getJson<Answer>(asking(`/pix/v2/${kind}`, asked), purpose)
  }
  const rowsAt = async (at: number) => (await answerAt(at))[member] ?? []
  const read = cursor === undefined ? undefined : (JSON.parse(cursor) as Cursor)
  const first = await answerAt(read?.at ?? 0)
  const last = Math.max(0, first.parametros.paginacao.quantidadeDePaginas - 1)
  const at = Math.min(read?.at ?? last, last)
  const own = at === (read?.at ?? 0) ? (first[member] ?? []) : await rowsAt(at)
  const isMoving = read !== undefined && (status !== '' || taxId !== '')
  const rows = isMoving ? [...own, ...(await movedRows([at + 1, last], read, idOf, rowsAt))] : own
  return { rows: rows.toReversed(), next: at > 0 ? cursorOf(at - 1, rows, idOf) : null }
}
