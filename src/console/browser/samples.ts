import { getJson } from './api.ts'

/** The members of an OpenAPI schema that we read. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly example?: unknown
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly description?: string
}

type Media = {
  readonly schema?: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
}

type Operation = {
  readonly summary?: string
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, Media>> }
}

export type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

export type SampleRequest = {
  /** `POST /v1/spi/send` */
  readonly name: string
  readonly summary: string
  readonly method: string
  readonly path: string
  readonly isIdempotent: boolean
  readonly body: { readonly contentType: string; readonly text: string } | undefined
}

export const loadDocument = (): Promise<ApiDocument> => getJson<ApiDocument>('/openapi.json')

/** Every operation that takes an API key, as a request to copy. */
export const operationsOf = (document: ApiDocument): readonly SampleRequest[] =>
  Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/v1/') || path.startsWith('/pix/'))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        summary: operation.summary ?? '',
        method: method.toUpperCase(),
        path,
        isIdempotent: (operation.parameters ?? []).some(({ name }) => name === 'Idempotency-Key'),
        body: bodyOf(document, operation),
      })),
    )

const jsonType = 'application/json'

/** The schema of an operation's body, and its examples by name. */
export const formOf = (
  document: ApiDocument,
  path: string,
): { readonly schema: Schema; readonly examples: Readonly<Record<string, unknown>> } => {
  const media = document.paths[path]?.['post']?.requestBody?.content?.[jsonType]
  const examples = Object.entries(media?.examples ?? {}).map(([name, { value }]) => [name, value])
  return {
    schema: resolved(document, media?.schema ?? {}),
    examples: Object.fromEntries(examples),
  }
}

/** The schema that `$ref` names, or the schema itself. */
export const resolved = (document: ApiDocument, schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components?.schemas?.[schema.$ref.split('/').at(-1) ?? ''] ?? {})

const bodyOf = (document: ApiDocument, operation: Operation): SampleRequest['body'] => {
  const content = operation.requestBody?.content ?? {}
  const contentType = jsonType in content ? jsonType : Object.keys(content)[0]
  const media = contentType === undefined ? undefined : content[contentType]
  if (contentType === undefined || media === undefined) return undefined
  const example = exampleOfMedia(document, media)
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  return { contentType, text }
}

const exampleOfMedia = (document: ApiDocument, media: Media): unknown => {
  const [named] = Object.values(media.examples ?? {})
  return media.example ?? named?.value ?? exampleOf(document, media.schema ?? {}, 0)
}

const depthMax = 6

/** An example value with only the required members. */
const exampleOf = (document: ApiDocument, schema: Schema, depth: number): unknown => {
  if (schema.$ref !== undefined) {
    return depth > depthMax ? null : exampleOf(document, resolved(document, schema), depth + 1)
  }
  const given = schema.example ?? schema.examples?.[0] ?? schema.const ?? schema.default
  if (given !== undefined) return given
  const first = schema.enum?.[0] ?? undefined
  if (first !== undefined) return first
  const [inner] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
  if (inner !== undefined) return exampleOf(document, inner, depth + 1)
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object': {
      const wanted = (schema.required ?? []).map((name) => [
        name,
        exampleOf(document, schema.properties?.[name] ?? {}, depth + 1),
      ])
      return Object.fromEntries(wanted)
    }
    case 'array':
      return schema.items === undefined ? [] : [exampleOf(document, schema.items, depth + 1)]
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    default:
      return '…'
  }
}

type Writer = {
  readonly label: string
  readonly write: (request: SampleRequest, origin: string) => string
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`)

const curl: Writer['write'] = ({ method, path, isIdempotent, body }, origin) =>
  [
    `curl -X ${method} ${shellQuoted(origin + path)}`,
    '-H "Authorization: Bearer $TRILHO_API_KEY"',
    ...(isIdempotent ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: ${body.contentType}'`, `--data-raw ${shellQuoted(body.text)}`]),
  ].join(' \\\n  ')

const isJson = (body: SampleRequest['body']): boolean => body?.contentType === jsonType

const typescript: Writer['write'] = ({ method, path, isIdempotent, body }, origin) =>
  [
    "import { env } from 'node:process'",
    '',
    `const answer = await fetch(${JSON.stringify(origin + path)}, {`,
    `  method: '${method}',`,
    '  headers: {',
    "    Authorization: 'Bearer ' + env.TRILHO_API_KEY,",
    ...(isIdempotent ? ["    'Idempotency-Key': crypto.randomUUID(),"] : []),
    ...(body === undefined ? [] : [`    'Content-Type': '${body.contentType}',`]),
    '  },',
    ...(body === undefined
      ? []
      : [
          isJson(body)
            ? `  body: JSON.stringify(${indented(body.text, '  ')}),`
            : `  body: ${JSON.stringify(body.text)},`,
        ]),
    '})',
    'console.log(answer.status, await answer.text())',
  ].join('\n')

const python: Writer['write'] = ({ method, path, isIdempotent, body }, origin) =>
  [
    'import os',
    ...(isIdempotent ? ['import uuid'] : []),
    'import requests',
    '',
    'answer = requests.request(',
    `    ${JSON.stringify(method)},`,
    `    ${JSON.stringify(origin + path)},`,
    '    headers={',
    '        "Authorization": f"Bearer {os.environ[\'TRILHO_API_KEY\']}",',
    ...(isIdempotent ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    ...(body === undefined ? [] : [`        "Content-Type": "${body.contentType}",`]),
    '    },',
    ...(body === undefined ? [] : [`    data=${JSON.stringify(body.text)}.encode(),`]),
    ')',
    'print(answer.status_code, answer.text)',
  ].join('\n')

/** Writes a program in each language. A JSON string is valid in Python and in TypeScript too. */
export const writers: readonly Writer[] = [
  { label: 'curl', write: curl },
  { label: 'TypeScript', write: typescript },
  { label: 'Python', write: python },
]
