import { codeLists, messageTypes, type Revision, revisions, versionOf } from '#codecs/iso20022'
import {
  ApiError,
  httpErrors,
  type RequestContext,
  type Route,
  route,
} from '#src/platform/http/index.ts'
import type { LargeDocuments } from '../large/index.ts'
import { isXml, readMessageBody, unreadable } from '../message-body.ts'
import { codesDocumentation, schemasDocumentation, validateDocumentation } from './documents.ts'
import type { LoadedSchemas } from './load.ts'
import type { Validation } from './service.ts'

export const schemaRoutes = (
  { report, catalogue }: LoadedSchemas,
  revision: Revision,
  validate: (message: Uint8Array) => Validation | Promise<Validation>,
  readBody: LargeDocuments['validateBody'],
): readonly Route[] => {
  const schemas = {
    revision,
    schemas: messageTypes.map((type) => ({
      type,
      versions: [...new Set(catalogue.versionsOf(type))],
      revisions: Object.fromEntries(revisions.map((name) => [name, versionOf(type, name)])),
    })),
    loaded: report,
  }
  return [
    route(validateDocumentation, async ({ c }) =>
      Response.json(answer(await validate(await readMessage(c, readBody)))),
    ),
    route(schemasDocumentation, () => Response.json(schemas)),
    route(codesDocumentation, () => Response.json(codes)),
  ]
}

const codes = {
  codes: Object.fromEntries(
    Object.entries(codeLists).map(([name, list]) => [
      name,
      [...list.values()].map(({ code, meaning, remedy, raisedBy, certainty, since, until }) => ({
        code,
        meaning: meaning ?? null,
        remedy: remedy ?? null,
        certainty,
        raised_by: raisedBy,
        since: since ?? null,
        until: until ?? null,
      })),
    ]),
  ),
}

const readMessage = async (
  c: RequestContext,
  readBody: LargeDocuments['validateBody'],
): Promise<Uint8Array> => {
  const body = await readMessageBody(c)
  return isXml(c) ? body : readBody(body)
}

const answer = (validation: Validation): object => {
  switch (validation.kind) {
    case 'malformed':
      throw unreadable(validation.explanation)
    case 'no_message':
      throw new ApiError(httpErrors.message_rejected, 'The document is no message of the SPI.')
    case 'no_schema':
      throw new ApiError(
        httpErrors.message_rejected,
        `There is no schema for ${validation.identity.type}.`,
      )
    case 'judged': {
      const { identity, revision, verdict, schemaVersion } = validation
      const { valid, violations, truncated } = verdict
      return {
        type: identity.type,
        version: identity.version,
        schema_version: schemaVersion,
        revision,
        valid,
        violations: violations.map(({ path, line, rule, got, expected }) => ({
          path,
          line,
          rule,
          got,
          expected,
        })),
        truncated,
      }
    }
  }
}
