import { z } from 'zod'
import { type Route, type RouteContract, readyHeaders, route } from '#src/platform/http/index.ts'
import { loadTemplate, templateNames, templates } from '../templates/index.ts'

const document = {
  at: 'GET /v1/contracts/templates',
  scope: 'contracts:read',
  operation: 'listContractTemplates',
  summary: 'The templates and the JSON Schema of their parameters',
  responses: {
    200: {
      description: 'All templates',
      schema: z.object({
        templates: z.array(
          z.object({
            template: z.enum(templateNames),
            standard: z.string(),
            params: z.record(z.string(), z.unknown()),
          }),
        ),
      }),
    },
  },
} as const satisfies RouteContract

const list = async (): Promise<string> => {
  const listed = await Promise.all(
    templateNames.map(async (template) => ({
      template,
      standard: templates[template].standard,
      params: z.toJSONSchema((await loadTemplate(template)).params, { io: 'input' }),
    })),
  )
  return JSON.stringify({ templates: listed })
}

const headers = readyHeaders('application/json')

/** The list never changes, and to write its schemas takes a millisecond: it is made for the first who asks. */
export const templatesRoute = (): Route => {
  let made: Promise<string> | undefined
  return route(document, async () => {
    made ??= list()
    return new Response(await made, { headers })
  })
}
