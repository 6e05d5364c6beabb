import type { ZodType } from 'zod'
import {
  type Caller,
  parseJson,
  type Route,
  type RouteContract,
  readBytes,
  respond,
  route,
} from '#src/platform/http/index.ts'

type ActContract = RouteContract & { readonly params: ZodType<{ readonly id: string }> }
type Answer = Parameters<typeof respond>[0]

/**
 * A route that does something to one thing. `read` judges the body by hand; a body that is absent, where the document
 * lets it be, is an empty object.
 */
export const actRoute = <Request>(
  contract: ActContract,
  read: (body: unknown) => Request,
  act: (id: string, request: Request, caller: Caller) => Promise<Answer>,
): Route =>
  route(contract, async (asked) => {
    const bytes = await readBytes(asked.c)
    const isAbsent = contract.isBodyOptional === true && bytes.length === 0
    const request = read(isAbsent ? {} : parseJson(bytes))
    return respond(await act(asked.params.id, request, asked.caller))
  })
