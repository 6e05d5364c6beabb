import type { Feature } from '#src/platform/lifecycle/index.ts'
import { qrcodeDemo } from './demo.ts'
import { qrcodeErrors } from './errors.ts'
import { qrcodeRoutes } from './routes.ts'

export { brCodeInspector } from './inspect.ts'

/** Writes, draws and reads PIX QR codes. Needs no setting. */
export const createQrcodes = (): Feature => ({
  name: 'qrcodes',
  routes: qrcodeRoutes(),
  errors: qrcodeErrors,
  demo: qrcodeDemo,
})
