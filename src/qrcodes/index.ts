import type { Feature } from '#src/platform/lifecycle/index.ts'
import { qrcodeDemo } from './demo.ts'
import { qrcodeErrors } from './errors.ts'
import { createResolver, type ResolveDeps } from './resolve.ts'
import { qrcodeRoutes } from './routes.ts'

export { brCodeInspector } from './inspect.ts'
export { drawText } from './picture.ts'

/** Writes, draws, reads and resolves PIX QR codes. */
export const createQrcodes = (deps: ResolveDeps): Feature => ({
  name: 'qrcodes',
  routes: qrcodeRoutes(createResolver(deps)),
  errors: qrcodeErrors,
  demo: qrcodeDemo,
})
