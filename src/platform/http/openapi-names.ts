/** Gives what the generator of the document leaves inline the names that clients need. */

type Schema = {
  $ref?: string
  type?: unknown
  format?: string
  maximum?: number
  default?: unknown
  const?: unknown
  enum?: readonly unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
type Content = Record<string, { schema?: Schema }>
type Operation = {
  readonly operationId?: string
  readonly requestBody?: { readonly content?: Content }
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>
}

export type OpenApiDocument = {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas?: Record<string, Schema> }
}

/**
 * Moves each object and each choice of objects to the components. One in a body gets the name of its operation, and one
 * within another gets that one's name and the member's.
 */
export const nameSchemas = (document: OpenApiDocument): void => {
  const schemas = document.components?.schemas ?? {}
  const within = createNaming(schemas)
  for (const [title, schema] of Object.entries(schemas)) within(schema, title)
  const inContent = (content: Content | undefined, title: string): void => {
    for (const media of Object.values(content ?? {})) {
      if (media.schema === undefined) continue
      media.schema = isComposite(media.schema)
        ? referenceTo(schemas, media.schema, title)
        : media.schema
      within(schemas[title] ?? {}, title)
    }
  }
  for (const operations of [document.paths, document.webhooks].flatMap((all) =>
    Object.values(all ?? {}),
  )) {
    for (const { operationId = '', requestBody, responses = {} } of Object.values(operations)) {
      const title = capital(operationId)
      inContent(requestBody?.content, `${title}Request`)
      for (const { content } of Object.values(responses)) inContent(content, `${title}Answer`)
    }
  }
}

const int32Max = 2 ** 31 - 1

const isInteger = ({ type }: Schema): boolean =>
  type === 'integer' || (Array.isArray(type) && type.includes('integer'))

const createNaming = (schemas: Record<string, Schema>) => {
  const named = (schema: Schema, title: string): Schema => {
    within(schema, title)
    return isComposite(schema) ? referenceTo(schemas, schema, title) : schema
  }
  const within = (schema: Schema, title: string): void => {
    // Some generators write the default of an object as source text, which does not compile.
    if (typeof schema.default === 'object') delete schema.default
    // Without a format, generators give an integer 32 bits, which hold no amount.
    if (isInteger(schema) && (schema.maximum ?? Number.POSITIVE_INFINITY) > int32Max) {
      schema.format = 'int64'
      // We refuse larger ones, since a number does not hold them exactly; Zod's documents do not tell so.
      schema.maximum ??= Number.MAX_SAFE_INTEGER
    }
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      schema.properties = { ...schema.properties, [name]: named(property, title + words(name)) }
    }
    if (schema.items !== undefined) schema.items = named(schema.items, `${title}Item`)
    if (typeof schema.additionalProperties === 'object') {
      schema.additionalProperties = named(schema.additionalProperties, `${title}Value`)
    }
    // `T or null` has no name of its own: T has it.
    const isChoice = isComposite(schema)
    for (const choices of [schema.anyOf, schema.oneOf, schema.allOf]) {
      for (const [index, choice] of choices?.entries() ?? []) {
        const suffix = isChoice ? (kindOf(choice) ?? String(index + 1)) : ''
        choices?.splice(index, 1, named(choice, title + suffix))
      }
    }
  }
  return within
}

/** A schema that is there under the name already keeps it; another of the same name would be a mistake of ours. */
const referenceTo = (schemas: Record<string, Schema>, schema: Schema, title: string): Schema => {
  const found = schemas[title]
  if (found !== undefined && JSON.stringify(found) !== JSON.stringify(schema)) {
    throw new Error(`two schemas are named ${title}`)
  }
  schemas[title] = schema
  return { $ref: `#/components/schemas/${title}` }
}

/** An object with members, or a choice between such; `T or null` is the T in it. */
const isComposite = (schema: Schema): boolean => {
  if (schema.$ref !== undefined) return false
  if (Object.keys(schema.properties ?? {}).length > 0) return true
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
  return choices.filter((choice) => choice.type !== 'null').length > 1 && choices.some(isMember)
}

const isMember = (schema: Schema): boolean => schema.$ref !== undefined || isComposite(schema)

/** Tells a choice from the others: the constant of its first member that has one. */
const kindOf = ({ properties = {} }: Schema): string | undefined => {
  for (const { const: constant, enum: values } of Object.values(properties)) {
    const value = constant ?? (values?.length === 1 ? values[0] : undefined)
    if (typeof value === 'string') return words(value.toLowerCase())
  }
  return undefined
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const words = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map(capital)
    .join('')
