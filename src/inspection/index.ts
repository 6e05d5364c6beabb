import { languageOf, type Route, refusedValue, route } from '#src/platform/http/index.ts'
import {
  type ExplainedField,
  type Explanation,
  type Feature,
  type Inspector,
  recognise,
} from '#src/platform/lifecycle/index.ts'
import { documents } from './documents.ts'

/** All lines together. A name of the message stands in the paths of all that is within it. */
const linesCharsMax = 4_194_304

/** Explains messages that people paste, by what explains them on the command line. */
export const createInspection = (inspectors: readonly Inspector[]): Feature => ({
  name: 'inspection',
  routes: [inspectionRoute(inspectors)],
})

const inspectionRoute = (inspectors: readonly Inspector[]): Route =>
  route(documents.inspect, async ({ body: { content, kind, ...options }, c }) => {
    const input = new TextEncoder().encode(content)
    const language = languageOf(c.req.header('accept-language') ?? null)
    const inspector = inspectorFor(inspectors, kind, input)
    const explanation = await explained(inspector, input, { ...options, language })
    return Response.json(viewOf(inspector.name, explanation))
  })

/** @throws ApiError `value_refused` if there is none */
const inspectorFor = (
  inspectors: readonly Inspector[],
  kind: string | undefined,
  input: Uint8Array,
): Inspector => {
  const names = inspectors.map(({ name }) => name).join(', ')
  const found =
    kind === undefined ? recognise(inspectors, input) : inspectors.find(({ name }) => name === kind)
  if (found !== undefined) return found
  const isNamed = kind !== undefined
  const message = isNamed
    ? `is none of ${names}`
    : `is of no kind that is recognised by its content: name it in kind, one of ${names}`
  throw refusedValue([{ pointer: isNamed ? '/kind' : '/content', rule: 'kind', message }])
}

/** @throws ApiError `value_refused` if it is no message of its kind */
const explained = async (
  { name, explain }: Inspector,
  input: Uint8Array,
  options: Parameters<Inspector['explain']>[1],
): Promise<Explanation> => {
  try {
    return await explain(input, options)
  } catch (error) {
    // These two are faults of ours; an inspector refuses by other errors, whose text is for people.
    if (error instanceof TypeError || error instanceof RangeError) throw error
    if (!(error instanceof Error)) throw error
    throw refusedValue([{ pointer: '/content', rule: name, message: error.message }])
  }
}

type Line = {
  readonly depth: number
  readonly name: string
  readonly value: string | null
  readonly meaning: string | null
  readonly path: string | null
}

/** @throws ApiError `value_refused` if it takes too many lines, or too long ones */
const viewOf = (kind: string, { title, fields, failure }: Explanation) => {
  const lines = linesOf(fields, 0)
  const chars = lines.reduce((sum, line) => sum + charsOf(line), 0)
  if (chars <= linesCharsMax) return { kind, title, failure: failure?.message ?? null, lines }
  const message = 'takes too long a text to explain: trilho inspect has no such limit'
  throw refusedValue([{ pointer: '/content', rule: 'explained_length', message }])
}

const charsOf = ({ name, value, meaning, path }: Line): number =>
  name.length + (value?.length ?? 0) + (meaning?.length ?? 0) + (path?.length ?? 0)

/** A list is what every client can read; a tree that refers to itself is not. */
const linesOf = (fields: readonly ExplainedField[], depth: number): readonly Line[] =>
  fields.flatMap(({ name, value = null, meaning = null, path = null, children = [] }) => [
    { depth, name, value, meaning, path },
    ...linesOf(children, depth + 1),
  ])
