import {
  boolean,
  defineSettings,
  type ListenAddress,
  listenAddress,
  pem,
  type SettingProblem,
  type SettingValues,
  setting,
} from '#src/platform/config/index.ts'
import {
  createFileMaterial,
  type KeyMaterial,
  KeyMaterialError,
} from '#src/platform/security/index.ts'

/** The gRPC listener. */
export const grpcSettings = defineSettings({
  address: setting('GRPC_ADDR', listenAddress(), {
    default: ':9090',
    doc: 'gRPC listen address; without TLS a port alone means this machine only.',
  }),
  certificate: setting('GRPC_TLS_CERT_PATH', pem(), {
    doc: 'Certificate chain of the gRPC listener; read again when it changes.',
  }),
  key: setting('GRPC_TLS_KEY_PATH', pem(), { doc: 'Private key of that certificate.' }),
  clientCa: setting('GRPC_TLS_CLIENT_CA_PATH', pem(), {
    doc: 'Authorities of client certificates; when set, gRPC clients must have one.',
  }),
  plaintextAllowed: setting('GRPC_PLAINTEXT_ALLOWED', boolean(), {
    default: 'false',
    doc: 'Serves gRPC without TLS to other machines too: for a mesh or proxy that adds it.',
  }),
  reflectionEnabled: setting('GRPC_REFLECTION_ENABLED', boolean(), {
    default: 'false',
    doc: 'Tells any gRPC client what can be called, without a key.',
  }),
})

export type GrpcSettings = SettingValues<typeof grpcSettings>

export const hasTls = ({ certificate, key }: GrpcSettings): boolean =>
  certificate !== undefined && key !== undefined

const loopback = '127.0.0.1'

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** Where to listen: a port alone does not open plaintext to other machines. */
export const bindAddress = (settings: GrpcSettings): ListenAddress => {
  const { address, plaintextAllowed } = settings
  if (address.host !== undefined || hasTls(settings) || plaintextAllowed) return address
  return { ...address, host: loopback }
}

/** Undefined: plaintext. Throws a KeyMaterialError when certificate and key do not belong together. */
export const tlsMaterialOf = (
  settings: GrpcSettings,
  onProblem?: (error: Error) => void,
): KeyMaterial | undefined => {
  const { certificate, key, clientCa: ca } = settings
  return hasTls(settings) ? createFileMaterial({ certificate, key, ca }, onProblem) : undefined
}

/** Problems that involve several settings. */
export const grpcProblems = (settings: GrpcSettings): readonly SettingProblem[] => {
  const { address, certificate, key, clientCa, plaintextAllowed } = settings
  const problem = (name: string, said: string, expected: string, fix: string): SettingProblem => ({
    name,
    value: '***',
    problem: said,
    expected,
    fix,
  })
  const lone = certificate === undefined ? 'GRPC_TLS_KEY_PATH' : 'GRPC_TLS_CERT_PATH'
  const other = certificate === undefined ? 'GRPC_TLS_CERT_PATH' : 'GRPC_TLS_KEY_PATH'
  if ((certificate === undefined) !== (key === undefined)) {
    return [problem(lone, `is set, but ${other} is not`, 'both or none', `set ${other} too`)]
  }
  if (clientCa !== undefined && certificate === undefined) {
    const name = 'GRPC_TLS_CLIENT_CA_PATH'
    return [problem(name, 'needs TLS', 'TLS', 'set GRPC_TLS_CERT_PATH and GRPC_TLS_KEY_PATH')]
  }
  try {
    tlsMaterialOf(settings)
  } catch (error) {
    if (!(error instanceof KeyMaterialError)) throw error
    const fix = 'set GRPC_TLS_CERT_PATH and GRPC_TLS_KEY_PATH to a certificate and its key'
    return [problem('GRPC_TLS_CERT_PATH', error.message, 'a certificate and its key', fix)]
  }
  const { host } = address
  if (host === undefined || isLoopback(host) || hasTls(settings) || plaintextAllowed) return []
  return [
    {
      ...problem(
        'GRPC_ADDR',
        'would serve other machines without TLS',
        'a loopback address, or TLS',
        'set GRPC_TLS_CERT_PATH and GRPC_TLS_KEY_PATH, or GRPC_PLAINTEXT_ALLOWED=true',
      ),
      value: `${host}:${address.port}`,
    },
  ]
}
