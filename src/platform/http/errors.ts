import { valueWithoutSecrets, withoutSecrets } from '../security/sensitive/index.ts'
import type { Language } from './language.ts'

/** What people read of an error. */
type ErrorText = {
  /** A short name, the same for every occurrence. */
  readonly title: string
  readonly meaning: string
  /** What the caller or the operator should do. */
  readonly remedy: string
}

/** One kind of failure a caller can see. Codes are append-only: never renamed, never reused. */
export type ErrorDefinition = ErrorText & {
  readonly code: string
  readonly status: number
  /** The same in Portuguese. */
  readonly pt: ErrorText
  /** True when the same request may succeed later without a change. */
  readonly retryable: boolean
}

/** The text of an error in a language. */
export const textOf = (definition: ErrorDefinition, language: Language): ErrorText =>
  language === 'pt-BR' ? definition.pt : definition

export type ErrorCatalogue = Readonly<Record<string, ErrorDefinition>>

/** An error as a feature declares it; not retryable unless it says so. */
export type DeclaredError = Omit<ErrorDefinition, 'code' | 'retryable'> & {
  readonly retryable?: true
}

/** Declares a feature's errors: `defineErrors({ not_queued: { status: 503, title, … } })`. */
export const defineErrors = <const C extends string>(
  entries: Readonly<Record<C, DeclaredError>>,
): { readonly [K in C]: ErrorDefinition } => {
  const catalogue = {} as Record<C, ErrorDefinition>
  for (const code of Object.keys(entries) as C[]) {
    catalogue[code] = { code, retryable: false, ...entries[code] }
  }
  return catalogue
}

/** One broken rule. Whoever builds it leaves out values that may hold personal or card data. */
export type Violation = {
  /** Where: a JSON Pointer, an XPath, or the name of a parameter or header. */
  readonly pointer: string
  readonly rule: string
  readonly message: string
  readonly expected?: string | number
  readonly got?: string | number
}

/**
 * Handlers throw it for an outcome that the caller should see; any other error becomes a 500. Texts quote what was sent,
 * and a secret may have been sent in any field: so none of them, wherever it is made, shows what looks like one.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly definition: ErrorDefinition
  readonly errors: readonly Violation[]
  /** Further members of the problem (RFC 9457 section 3.2), or `details` of the envelope style. */
  readonly details: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    definition: ErrorDefinition,
    message: string,
    more: {
      readonly errors?: readonly Violation[]
      readonly details?: Readonly<Record<string, unknown>>
      readonly headers?: Readonly<Record<string, string>>
      readonly cause?: unknown
    } = {},
  ) {
    super(withoutSecrets(message), more.cause === undefined ? undefined : { cause: more.cause })
    this.definition = definition
    this.errors = (more.errors ?? []).map((one) => valueWithoutSecrets(one) as Violation)
    this.details = valueWithoutSecrets(more.details ?? {}) as ApiError['details']
    this.headers = more.headers ?? {}
  }
}

/** The errors every feature shares. The first six slugs are the specification's. */
export const httpErrors = defineErrors({
  bad_request: {
    status: 400,
    title: 'Bad request',
    meaning: 'The request cannot be read: malformed JSON or XML, or a malformed header.',
    remedy: 'Correct the request at the place named in detail.',
    pt: {
      title: 'Requisição inválida',
      meaning:
        'Não é possível ler a requisição: JSON ou XML malformado, ou um cabeçalho malformado.',
      remedy: 'Corrija a requisição no lugar indicado em detail.',
    },
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'No such path, or no resource with this identifier.',
    remedy: 'Check path and identifier.',
    pt: {
      title: 'Não encontrado',
      meaning: 'Não há esse caminho, ou não há recurso com esse identificador.',
      remedy: 'Confira o caminho e o identificador.',
    },
  },
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    meaning: 'The request is well-formed but a field breaks a rule; errors lists every one.',
    remedy: 'Correct the fields named in errors.',
    pt: {
      title: 'Validação falhou',
      meaning: 'A requisição é bem formada, mas um campo quebra uma regra; errors lista todas.',
      remedy: 'Corrija os campos indicados em errors.',
    },
  },
  value_refused: {
    status: 400,
    title: 'Value refused',
    meaning:
      'The request fits its published schema, but a value in it cannot be taken: a wrong check digit, a cursor that no list gave, a member that does not go with another; errors lists every one.',
    remedy: 'Correct the values named in errors.',
    pt: {
      title: 'Valor recusado',
      meaning:
        'A requisição segue o esquema publicado, mas um valor não pode ser aceito: um dígito verificador errado, um cursor que nenhuma lista deu, um membro que não combina com outro; errors lista todos.',
      remedy: 'Corrija os valores indicados em errors.',
    },
  },
  message_rejected: {
    status: 422,
    title: 'Message rejected',
    meaning: 'The message is of another type than declared, or is not acceptable as it stands.',
    remedy: 'Send the message to the operation for its type, or correct it.',
    pt: {
      title: 'Mensagem rejeitada',
      meaning: 'A mensagem é de outro tipo que o declarado, ou não é aceitável como está.',
      remedy: 'Envie a mensagem à operação do seu tipo, ou corrija-a.',
    },
  },
  schema_violation: {
    status: 422,
    title: 'Schema violation',
    meaning: 'The message breaks its ISO 20022 schema; errors lists each element by XPath.',
    remedy: 'Correct the elements named in errors.',
    pt: {
      title: 'Violação de esquema',
      meaning: 'A mensagem quebra o seu esquema ISO 20022; errors lista cada elemento por XPath.',
      remedy: 'Corrija os elementos indicados em errors.',
    },
  },
  certificate_expired: {
    status: 422,
    title: 'Certificate expired',
    meaning: 'A certificate needed for the operation is no longer valid.',
    remedy: 'Install a valid certificate.',
    pt: {
      title: 'Certificado vencido',
      meaning: 'Um certificado necessário à operação não é mais válido.',
      remedy: 'Instale um certificado válido.',
    },
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    meaning: 'The API key is missing, malformed, unknown, expired or revoked.',
    remedy: 'Send a valid key as Authorization: Bearer <key>.',
    pt: {
      title: 'Não autenticado',
      meaning: 'A chave de API falta, é malformada, desconhecida, venceu ou foi revogada.',
      remedy: 'Envie uma chave válida como Authorization: Bearer <chave>.',
    },
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The API key is valid but lacks the scope of the operation.',
    remedy: 'Use a key with the scope named in message.',
    pt: {
      title: 'Proibido',
      meaning: 'A chave de API é válida, mas não tem o escopo da operação.',
      remedy: 'Use uma chave com o escopo indicado em message.',
    },
  },
  restricted: {
    status: 403,
    title: 'Restricted',
    meaning: 'The API key has the scope, but a restriction of it forbids the request.',
    remedy: 'Use a key without the restriction named in message.',
    pt: {
      title: 'Restrito',
      meaning: 'A chave de API tem o escopo, mas uma restrição dela proíbe a requisição.',
      remedy: 'Use uma chave sem a restrição indicada em message.',
    },
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists but not with this method; the Allow header lists those it has.',
    remedy: 'Use a method from Allow.',
    pt: {
      title: 'Método não permitido',
      meaning: 'O caminho existe, mas não com este método; o cabeçalho Allow lista os que há.',
      remedy: 'Use um método de Allow.',
    },
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The state of the resource does not allow the operation.',
    remedy: 'Read the resource and decide anew.',
    pt: {
      title: 'Conflito',
      meaning: 'O estado do recurso não permite a operação.',
      remedy: 'Leia o recurso e decida de novo.',
    },
  },
  idempotency_in_progress: {
    status: 409,
    title: 'Request still running',
    meaning: 'A request with the same Idempotency-Key has not ended yet.',
    remedy: 'Wait and repeat the request with the same key.',
    pt: {
      title: 'Requisição em andamento',
      meaning: 'Uma requisição com a mesma Idempotency-Key ainda não terminou.',
      remedy: 'Espere e repita a requisição com a mesma chave.',
    },
    retryable: true,
  },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    meaning: 'The request body is over the limit named in detail.',
    remedy: 'Send a smaller body.',
    pt: {
      title: 'Corpo grande demais',
      meaning: 'O corpo da requisição passa do limite indicado em detail.',
      remedy: 'Envie um corpo menor.',
    },
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The operation does not take this Content-Type.',
    remedy: 'Use a Content-Type named in detail.',
    pt: {
      title: 'Tipo de mídia não suportado',
      meaning: 'A operação não aceita este Content-Type.',
      remedy: 'Use um Content-Type aceito pela operação.',
    },
  },
  idempotency_mismatch: {
    status: 422,
    title: 'Idempotency-Key used for another request',
    meaning: 'The Idempotency-Key was first used with another body or another operation.',
    remedy: 'Use a new key for a new request.',
    pt: {
      title: 'Idempotency-Key usada em outra requisição',
      meaning: 'A Idempotency-Key foi usada primeiro com outro corpo ou em outra operação.',
      remedy: 'Use uma chave nova para uma requisição nova.',
    },
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'The API key, or its account, has made more requests than it may.',
    remedy: 'Repeat after the seconds of Retry-After. RateLimit tells what is left.',
    pt: {
      title: 'Requisições demais',
      meaning: 'A chave de API, ou a sua conta, fez mais requisições do que pode.',
      remedy: 'Repita depois dos segundos de Retry-After. RateLimit diz o que resta.',
    },
    retryable: true,
  },
  internal: {
    status: 500,
    title: 'Internal error',
    meaning: 'The gateway failed; the log holds the cause under request_id.',
    remedy: 'Report the request_id. Repeat only with the same Idempotency-Key.',
    pt: {
      title: 'Erro interno',
      meaning: 'O gateway falhou; o log tem a causa sob request_id.',
      remedy: 'Informe o request_id. Repita somente com a mesma Idempotency-Key.',
    },
    retryable: true,
  },
  database_unavailable: {
    status: 503,
    title: 'Database unavailable',
    meaning:
      'The database does not answer; whether a request that changes something took effect is not known.',
    remedy: 'Repeat with the same Idempotency-Key. /health tells when the database is back.',
    pt: {
      title: 'Banco de dados indisponível',
      meaning:
        'O banco de dados não responde; não se sabe se uma requisição que altera algo teve efeito.',
      remedy: 'Repita com a mesma Idempotency-Key. /health diz quando o banco voltou.',
    },
    retryable: true,
  },
  not_configured: {
    status: 503,
    title: 'Not configured',
    meaning: 'The operation needs a setting that is not set; detail names it.',
    remedy: 'Set it and start the gateway again.',
    pt: {
      title: 'Não configurado',
      meaning: 'A operação precisa de uma configuração que falta; detail diz qual.',
      remedy: 'Defina-a e reinicie o gateway.',
    },
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    meaning: 'As many requests of this kind run now as may; this one was not begun.',
    remedy: 'Repeat after the seconds of Retry-After.',
    pt: {
      title: 'Sobrecarregado',
      meaning: 'Já correm tantas requisições deste tipo quantas podem; esta não foi começada.',
      remedy: 'Repita depois dos segundos de Retry-After.',
    },
    retryable: true,
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    meaning: 'Something the operation needs cannot be reached now.',
    remedy: 'Repeat later.',
    pt: {
      title: 'Indisponível',
      meaning: 'Algo de que a operação precisa não pode ser alcançado agora.',
      remedy: 'Repita mais tarde.',
    },
    retryable: true,
  },
})

/**
 * The error of a request that breaks its published schema (400).
 *
 * @param errors at least one
 * @param whole what the message names where the first has no pointer
 */
export const invalid = (errors: readonly Violation[], whole = 'The body'): ApiError =>
  new ApiError(httpErrors.validation_failed, summaryOf(errors, whole), { errors })

/**
 * The error of a request that fits its published schema, where a value cannot be taken all the same. It is
 * as invalid (400); the code tells a client that was made from the document that it could not know.
 */
export const refusedValue = (
  errors: readonly Violation[],
  details: Readonly<Record<string, unknown>> = {},
): ApiError =>
  new ApiError(httpErrors.value_refused, summaryOf(errors, 'The request'), { errors, details })

const summaryOf = (errors: readonly Violation[], whole: string): string => {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return `${first?.pointer || whole}: ${first?.message ?? 'is not valid'}${more}`
}
