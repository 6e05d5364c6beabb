/* What the page knows of schemas; the tests use it too. */

const depthMax = 8

/** The schema behind a reference. */
export const resolved = (document, schema) =>
  schema?.$ref === undefined
    ? (schema ?? {})
    : (document.components.schemas[schema.$ref.split('/').at(-1)] ?? {})

const ofString = ({ enum: values, format, const: constant }) => {
  if (constant !== undefined) return constant
  if (values !== undefined) return values[0]
  if (format === 'date-time') return '2026-03-02T14:05:00Z'
  if (format === 'uuid') return '01a20392-92b3-74d8-bc74-59cf3ee42529'
  return 'text'
}

/** A value of a schema: its examples where it has any, else what is needed and no more. */
export const exampleOf = (document, given, depth = 0) => {
  const schema = resolved(document, given)
  if (schema.example !== undefined) return schema.example
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if (schema.default !== undefined) return schema.default
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (choices !== undefined) return exampleOf(document, choices[0], depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'string':
      return ofString(schema)
    case 'integer':
    case 'number':
      return schema.enum?.[0] ?? schema.minimum ?? 1
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array':
      return depth > depthMax || (schema.minItems ?? 0) === 0
        ? []
        : [exampleOf(document, schema.items, depth + 1)]
    default:
      return exampleOfObject(document, schema, depth)
  }
}

const exampleOfObject = (document, schema, depth) => {
  if (depth > depthMax) return {}
  const needed = new Set(schema.required ?? [])
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(([name]) => needed.has(name))
      .map(([name, value]) => [name, exampleOf(document, value, depth + 1)]),
  )
}

/** The named bodies of an operation, or one made of its schema. */
export const bodiesOf = (document, operation) => {
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  if (type === undefined) return []
  const named = Object.entries(media.examples ?? {})
  return named.length > 0
    ? named.map(([name, { value }]) => ({ name, type, value }))
    : [{ name: 'example', type, value: exampleOf(document, media.schema) }]
}

const valueAt = (value, pointer) =>
  pointer
    .split('/')
    .slice(1)
    .reduce((within, step) => within?.[step], value)

const withValueAt = (value, [step, ...rest], to) => {
  if (step === undefined) return to
  const changed = withValueAt(value?.[step], rest, to)
  return Array.isArray(value) ? value.with(Number(step), changed) : { ...value, [step]: changed }
}

/** A path with parameters in it, and the needed ones behind it; one that has no value gets that of its schema. */
export const pathOf = (document, path, operation, parameters) => {
  const all = operation.parameters ?? []
  const filledWith = ({ name, schema }) =>
    encodeURIComponent(parameters[name] ?? exampleOf(document, schema))
  const query = all
    .filter(({ in: place, required }) => place === 'query' && required === true)
    .map((one) => `${one.name}=${filledWith(one)}`)
  const filled = all
    .filter(({ in: place }) => place === 'path')
    .reduce((url, one) => url.replace(`{${one.name}}`, filledWith(one)), path)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/**
 * What an operation is tried with: parameters by name and the body, with what other operations answer.
 *
 * @param ask gives the answer of an operation by its id and query; undefined if there is none
 */
export const triedWith = async (operation, body, ask) => {
  const parameters = {}
  let filled = body
  for (const [place, source] of Object.entries(operation['x-example-from'] ?? {})) {
    const [, name, query = '', pointer] = /^(\w+)(\?[^#]*)?#(.*)$/.exec(source)
    const value = valueAt(await ask(name, query), pointer)
    if (value === undefined) continue
    if (place.startsWith('/')) filled = withValueAt(filled, place.split('/').slice(1), value)
    else parameters[place] = value
  }
  return { parameters, body: filled }
}

/**
 * Asks operations: what can be read is read anew, of any other the last answer counts.
 *
 * @param answers of operations that were tried, by id
 * @param read gives the JSON behind a path; undefined if there is none
 */
export const asking = (document, answers, read) => {
  const readable = new Map(
    Object.entries(document.paths).flatMap(([path, { get: operation }]) =>
      operation === undefined ? [] : [[operation.operationId, { path, operation }]],
    ),
  )
  const ask = async (name, query) => {
    const found = readable.get(name)
    if (found === undefined) return answers.get(name)
    const { parameters } = await triedWith(found.operation, undefined, ask)
    const path = pathOf(document, found.path, found.operation, parameters)
    return read(path + (path.includes('?') ? query.replace('?', '&') : query))
  }
  return ask
}

/** A schema in a few words. */
export const wordsOf = (document, given) => {
  const schema = resolved(document, given)
  const choices = schema.anyOf ?? schema.oneOf
  const type =
    choices !== undefined
      ? choices.map((one) => one.$ref?.split('/').at(-1) ?? one.type ?? 'any').join(' | ')
      : [schema.type ?? 'any'].flat().join(' | ')
  const bounds = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'pattern']
  const told = bounds
    .filter((name) => schema[name] !== undefined)
    .map((name) => `${name} ${schema[name]}`)
  const values = schema.enum === undefined ? [] : [`one of ${schema.enum.join(', ')}`]
  const missing = schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]
  return [type, schema.format, ...values, ...told, ...missing].filter(Boolean).join(', ')
}
