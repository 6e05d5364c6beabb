import { httpErrors, type Lookups, portugueseOf, startLookups } from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import { portugueseMessageOf } from '../transactions/response-messages.ts'

const definitions = new Map(
  [...Object.values(httpErrors), ...Object.values(cardErrors)].map((definition) => [
    definition.code.toUpperCase(),
    definition,
  ]),
)

/** An answer of cards in Portuguese: `response_message` by its code, the message of an error by its own. */
export const inPortuguese = (answer: unknown): unknown => told(answer, startLookups())

const told = (answer: unknown, lookups: Lookups): unknown => {
  if (Array.isArray(answer)) return answer.map((one) => told(one, lookups))
  if (typeof answer !== 'object' || answer === null) return answer
  const own = Object.entries(answer).map(([name, value]) => [name, told(value, lookups)])
  const members = Object.fromEntries(own) as Record<string, unknown>
  const { response_code: code, response_message: text } = members
  // If the network did not answer, there is neither.
  if (typeof code === 'string' && typeof text === 'string' && text !== '') {
    members['response_message'] = portugueseMessageOf(code)
  }
  const definition = definitions.get(String(members['code']))
  if (definition !== undefined && typeof members['message'] === 'string') {
    members['message'] = portugueseOf(members['message'], lookups) ?? definition.pt.meaning
  }
  return members
}
