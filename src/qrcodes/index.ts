import type { ErrorDefinition } from '#src/platform/http/index.ts'
import {
  callGateway,
  type Demo,
  type DemoGateway,
  type Feature,
} from '#src/platform/lifecycle/index.ts'
import { qrcodeErrors } from './errors.ts'
import { createPayables, type ReadPayable } from './payable.ts'
import { createResolver, type ResolveDeps } from './resolve.ts'
import { qrcodeRoutes } from './routes.ts'

export { brCodeInspector } from './inspect.ts'
export { drawText } from './picture.ts'

export type QrcodesFeature = Feature & {
  /** For payments by code. */
  readonly readPayable: ReadPayable
  /** What may come of that. */
  readonly payableErrors: readonly ErrorDefinition[]
}

/** Writes, draws, reads and resolves PIX QR codes. */
export const createQrcodes = (deps: ResolveDeps): QrcodesFeature => {
  const resolve = createResolver(deps)
  return {
    name: 'qrcodes',
    routes: qrcodeRoutes(resolve),
    errors: qrcodeErrors,
    demo: qrcodeDemo,
    readPayable: createPayables(resolve),
    payableErrors: Object.values(qrcodeErrors),
  }
}

const body = {
  key: '123e4567-e12b-12d1-a456-426655440000',
  name: 'Fulano de Tal',
  city: 'BRASILIA',
  amount: '10.00',
}

/** Writes a static code through the public interface. */
const qrcodeDemo = async ({ httpUrl, apiKey }: DemoGateway): Promise<Demo> => ({
  title: 'A static PIX code',
  ...(await callGateway(apiKey, 'POST', `${httpUrl}/v1/qrcodes/static`, body)),
})
