import type { Feature } from '#src/platform/lifecycle/index.ts'
import { qrcodeDemo } from './demo.ts'
import { qrcodeErrors } from './errors.ts'
import { qrcodeRoutes } from './routes.ts'

export { brCodeInspector } from './inspect.ts'

/** PIX QR codes: written, drawn and read. Needs no setting. */
export const createQrcodes = (): Feature => ({
  name: 'qrcodes',
  routes: qrcodeRoutes(),
  errors: qrcodeErrors,
  demo: qrcodeDemo,
})
