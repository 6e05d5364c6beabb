import {
  defineSettings,
  kind,
  type ListenAddress,
  type SettingProblem,
  type SettingValues,
  setting,
} from '#src/platform/config/index.ts'
import { hasTls, isHere, listenerTlsProblems } from '#src/platform/security/index.ts'

/** The gRPC listener. */
export const grpcSettings = defineSettings({
  address: setting('GRPC_ADDR', kind.listenAddress(), {
    default: ':9090',
    doc: 'gRPC listen address; without TLS a port alone means this machine only.',
  }),
  certificate: setting('GRPC_TLS_CERT_PATH', kind.pem(), {
    doc: 'Certificate chain of the gRPC listener; read again when it changes.',
  }),
  key: setting('GRPC_TLS_KEY_PATH', kind.pem(), { doc: 'Private key of that certificate.' }),
  clientCa: setting('GRPC_TLS_CLIENT_CA_PATH', kind.pem(), {
    doc: 'Authorities of client certificates; when set, gRPC clients must have one.',
  }),
  plaintextAllowed: setting('GRPC_PLAINTEXT_ALLOWED', kind.boolean(), {
    default: 'false',
    doc: 'Serves gRPC without TLS to other machines too: for a mesh or proxy that adds it.',
  }),
  reflectionEnabled: setting('GRPC_REFLECTION_ENABLED', kind.boolean(), {
    default: 'false',
    doc: 'Tells any gRPC client what can be called, without a key.',
  }),
})

export type GrpcSettings = SettingValues<typeof grpcSettings>

const loopback = '127.0.0.1'

/** Where to listen: a port alone does not open plaintext to other machines. */
export const bindAddress = (settings: GrpcSettings): ListenAddress => {
  const { address, plaintextAllowed } = settings
  if (address.host !== undefined || hasTls(settings) || plaintextAllowed) return address
  return { ...address, host: loopback }
}

/** Problems that involve several settings. */
export const grpcProblems = (settings: GrpcSettings): readonly SettingProblem[] => {
  const { address, plaintextAllowed } = settings
  const problems = listenerTlsProblems('GRPC_TLS', settings)
  if (problems.length > 0) return problems
  const { host } = address
  if (host === undefined || isHere(host) || hasTls(settings) || plaintextAllowed) return []
  return [
    {
      name: 'GRPC_ADDR',
      value: `${host}:${address.port}`,
      problem: 'would serve other machines without TLS',
      expected: 'a loopback address, or TLS',
      fix: 'set GRPC_TLS_CERT_PATH and GRPC_TLS_KEY_PATH, or GRPC_PLAINTEXT_ALLOWED=true',
    },
  ]
}
