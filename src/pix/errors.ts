import type { ZodType } from 'zod'
import {
  ApiError,
  defineErrors,
  detailOf,
  type ErrorDefinition,
  type ErrorRenderer,
  portugueseViolation,
  problemContentType,
  startLookups,
} from '#src/platform/http/index.ts'
import { firstCharacters } from '#src/platform/runtime/index.ts'

/** One broken rule, as the API Pix tells of it. */
export type Violacao = {
  readonly razao: string
  /** For example `cob.valor.original`. */
  readonly propriedade: string
  readonly valor?: string | undefined
}

/** Why what is being paid is not changed. */
export const paymentUnderWay =
  'Há um pagamento da cobrança em curso, e a presente requisição busca alterá-la.'

/** Why what was paid or removed is not changed. */
export const notActive = 'A cobrança não está ATIVA, e a presente requisição busca alterá-la.'

/** Whether the request is refused for the state of the charge, and not for what it asks. */
export const isOvertaken = ({ message }: ApiError): boolean =>
  message === paymentUnderWay || message === notActive

/** Titles are the standard's, and so Portuguese in both languages. */
const invalid = (title: string, meaning: string) => ({
  status: 400,
  title,
  meaning,
  remedy: 'Correct what violacoes names.',
})

const absent = (title: string, meaning: string) => ({
  status: 404,
  title,
  meaning,
  remedy: 'Check the identifier.',
})

/** The errors of the API Pix 2.9.0 that this gateway gives. The code is the standard's name, spelt as ours are. */
export const pixErrors = defineErrors({
  acesso_negado: {
    status: 403,
    title: 'Acesso negado',
    meaning: 'The client may not do this, or the function is not offered.',
    remedy: 'Use a client with the scope named in detail, or leave the function out.',
  },
  requisicao_invalida: invalid('Requisição inválida.', 'The request cannot be read.'),
  nao_encontrado: absent('Não encontrado', 'There is no such thing.'),
  cob_nao_encontrado: absent('Cobrança não encontrada', 'The account has no charge of this txid.'),
  cob_operacao_invalida: invalid('Cobrança inválida.', 'The charge breaks a rule.'),
  cob_consulta_invalida: invalid('Consulta inválida.', 'A parameter of the list breaks a rule.'),
  cobv_nao_encontrada: absent(
    'Cobrança com vencimento não encontrada',
    'The account has no charge with a due date of this txid.',
  ),
  cobv_operacao_invalida: invalid('Cobrança com vencimento inválida.', 'The charge breaks a rule.'),
  cobv_consulta_invalida: invalid('Consulta inválida.', 'A parameter of the list breaks a rule.'),
  lote_cobv_nao_encontrado: absent(
    'Lote não encontrado',
    'The account has no batch of charges of this id.',
  ),
  lote_cobv_operacao_invalida: invalid('Lote de cobranças inválido.', 'The batch breaks a rule.'),
  lote_cobv_consulta_invalida: invalid('Consulta inválida.', 'A parameter breaks a rule.'),
  cob_payload_operacao_invalida: invalid(
    'Consulta do payload inválida.',
    'The charge is there, but a parameter breaks a rule.',
  ),
  cob_payload_nao_encontrado: absent('Cobrança não encontrada', 'The location shows no charge.'),
  payload_location_nao_encontrado: absent('Location não encontrada', 'No such location.'),
  payload_location_operacao_invalida: invalid('Location inválida.', 'The location breaks a rule.'),
  payload_location_consulta_invalida: invalid('Consulta inválida.', 'A parameter breaks a rule.'),
  payload_location_rec_nao_encontrado: absent(
    'Location não encontrada',
    'The account has no location of recurrences of this id.',
  ),
  payload_location_rec_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter of the list breaks a rule.',
  ),
  rec_payload_nao_encontrado: absent(
    'Recorrência não encontrada',
    'The location shows no recurrence.',
  ),
  rec_payload_operacao_invalida: invalid(
    'Recorrência encerrada.',
    'The recurrence of the location is expired, rejected or cancelled.',
  ),
  rec_nao_encontrada: absent(
    'Recorrência não encontrada',
    'The account has no recurrence of this idRec.',
  ),
  rec_operacao_invalida: invalid('Recorrência inválida.', 'The recurrence breaks a rule.'),
  rec_consulta_invalida: invalid('Consulta inválida.', 'A parameter breaks a rule.'),
  solic_rec_nao_encontrada: absent(
    'Solicitação de recorrência não encontrada',
    'The account has no request of this idSolicRec.',
  ),
  solic_rec_operacao_invalida: invalid(
    'Solicitação de recorrência inválida.',
    'The request to authorise a recurrence breaks a rule.',
  ),
  cobr_nao_encontrado: absent(
    'Cobrança recorrente não encontrada',
    'The account has no charge of a recurrence of this txid.',
  ),
  cobr_operacao_invalida: invalid(
    'Cobrança recorrente inválida.',
    'The charge of a recurrence breaks a rule.',
  ),
  cobr_consulta_invalida: invalid('Consulta inválida.', 'A parameter breaks a rule.'),
  pix_nao_encontrado: absent('Pix não encontrado', 'The account has received no such Pix.'),
  pix_devolucao_nao_encontrada: absent('Devolução não encontrada', 'The Pix has no such return.'),
  pix_consulta_invalida: invalid('Consulta inválida.', 'A parameter of the list breaks a rule.'),
  pix_devolucao_invalida: invalid('Devolução inválida.', 'The return breaks a rule.'),
  webhook_nao_encontrado: absent('Webhook não encontrado', 'The key has no webhook.'),
  webhook_operacao_invalida: invalid('Webhook inválido.', 'The webhook breaks a rule.'),
  webhook_rec_operacao_invalida: invalid(
    'Webhook inválido.',
    'The webhook of recurrences breaks a rule.',
  ),
  webhook_cobr_operacao_invalida: invalid(
    'Webhook inválido.',
    'The webhook of recurring charges breaks a rule.',
  ),
  webhook_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter of the list breaks a rule.',
  ),
})

/** How much of a wrong value is shown. */
const shownCharsMax = 200

/** @param violacoes at least one; a long value is cut */
export const violates = (definition: ErrorDefinition, violacoes: readonly Violacao[]): ApiError => {
  const shown = violacoes.map(({ valor, ...rest }) =>
    valor === undefined ? rest : { ...rest, valor: firstCharacters(valor, shownCharsMax) },
  )
  return new ApiError(definition, shown[0]?.razao ?? '', { details: { violacoes: shown } })
}

/** For example `cob.valor.original`. The standard's problems spell one member otherwise than its bodies. */
const propriedadeOf = (steps: readonly string[]): string =>
  steps
    .filter((step) => step !== '')
    .map((step) => (step === 'cobsv' ? 'cobsV' : step))
    .join('.')

/**
 * How a body is read of which problems name the first member, a field if it is one of these, else an object; and the
 * field within, if the first member is a parent.
 *
 * @param root what the standard calls the body
 */
export const bodyReader =
  (
    root: string,
    fields: readonly string[],
    refuse: (...found: readonly Violacao[]) => ApiError,
    parents: readonly string[] = [],
  ) =>
  <T>(schema: ZodType<T>, value: unknown): T => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const found = parsed.error.issues.map(({ path }) => {
      const [first = '', second] = path.map(String)
      const isWithin = second !== undefined && parents.includes(first)
      const propriedade = propriedadeOf([root, first, isWithin ? second : ''])
      return [propriedade, isWithin || fields.includes(first)] as const
    })
    const violacoes = [...new Map(found)].map(([propriedade, isField]) => {
      const what = isField ? 'campo' : 'objeto'
      return { razao: `O ${what} ${propriedade} não respeita o schema.`, propriedade }
    })
    throw refuse(...violacoes)
  }

const typePrefix = 'https://pix.bcb.gov.br/api/v2/error/'

const ownCodes: ReadonlySet<string> = new Set(Object.keys(pixErrors))

const capitals: Readonly<Record<string, string>> = { cobv: 'CobV', cobr: 'CobR' }

/** `cob_nao_encontrado` is CobNaoEncontrado, `cobv` CobV and `cobr` CobR. */
const nameOf = ({ code, status }: ErrorDefinition): string =>
  ownCodes.has(code)
    ? code
        .split('_')
        .map((word) => capitals[word] ?? word.charAt(0).toUpperCase() + word.slice(1))
        .join('')
    : generalName(status)

/** The name of what may happen to any request. */
const generalName = (status: number): string => {
  if (status === 401 || status === 403) return 'AcessoNegado'
  if (status === 404) return 'NaoEncontrado'
  if (status === 410) return 'PermanentementeRemovido'
  if (status === 504) return 'IndisponibilidadePorTempoEsgotado'
  if (status === 429 || status === 503) return 'ServicoIndisponivel'
  return status >= 500 ? 'ErroInternoDoServidor' : 'RequisicaoInvalida'
}

/** What a JSON Pointer leads to; names of parameters and headers stay. */
const propriedadeAt = (pointer: string, root: string): string => {
  const [start, ...steps] = pointer.split('/')
  if (start !== '') return pointer
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return propriedadeOf([root, ...names])
}

/**
 * `Problema` of the standard: RFC 7807, with `violacoes`. It is in Portuguese whatever language was asked for.
 *
 * @param root what the standard calls the body
 */
export const problemOf = (error: ApiError, root = '') => {
  const { definition, details, errors } = error
  const { status } = definition
  const { title } = definition.pt
  const lookups = startLookups()
  // Errors of these routes are in Portuguese already; errors that every route may give are not.
  const detail = ownCodes.has(definition.code) ? error.message : detailOf(error, 'pt-BR', lookups)
  const violacoes =
    details['violacoes'] ??
    errors.map((one) => ({
      razao: portugueseViolation(one, lookups),
      propriedade: propriedadeAt(one.pointer, root),
    }))
  const isListed = Array.isArray(violacoes) && violacoes.length > 0
  return {
    type: typePrefix + nameOf(definition),
    title,
    status,
    detail,
    ...(isListed ? { violacoes } : {}),
  }
}

/** Problems as the API Pix has them. @param root as in {@link problemOf} */
export const pixErrorRenderer =
  (root = ''): ErrorRenderer =>
  (error, requestId) => {
    const body = { ...problemOf(error, root), correlationId: requestId }
    return new Response(JSON.stringify(body), {
      status: body.status,
      headers: { 'Content-Type': problemContentType, ...error.headers },
    })
  }

/** The errors of the operator's endpoints, which are not in the standard. */
export const receiverErrors = defineErrors({
  pix_key_of_another_account: {
    status: 409,
    title: 'Pix key of another account',
    meaning: 'Another account charges with the key.',
    remedy: 'Remove the key from that account first.',
  },
})
