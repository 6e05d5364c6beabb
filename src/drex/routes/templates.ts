import { z } from 'zod'
import { type Route, type RouteContract, route } from '#src/platform/http/index.ts'
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

export const templatesRoute = (): Route =>
  route(document, async () => {
    const listed = await Promise.all(
      templateNames.map(async (template) => ({
        template,
        standard: templates[template].standard,
        params: z.toJSONSchema((await loadTemplate(template)).params, { io: 'input' }),
      })),
    )
    return Response.json({ templates: listed })
  })
