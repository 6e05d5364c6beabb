import { type CertificateRecord, nameText } from './domain.ts'
import { keyPem } from './folder-store.ts'

/** Kubernetes' rule for names: lower-case letters, digits and hyphens, at most 253 characters. */
export const namespaceForm = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export const isKubernetesNamespace = (text: string): boolean => namespaceForm.test(text)

export const fullChain = ({ certificate, chain }: CertificateRecord): string =>
  `${[certificate, ...chain].map((pem) => pem.trim()).join('\n')}\n`

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** A secret of type kubernetes.io/tls, which can be mounted as one entry of the folder store. */
export const secretManifest = (
  record: CertificateRecord,
  key: Uint8Array,
  namespace: string | undefined,
): string => {
  const name = `trilho-cert-${nameText(record).toLowerCase().replaceAll('.', '-')}`
  return [
    'apiVersion: v1',
    'kind: Secret',
    'metadata:',
    `  name: ${name}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
    '  labels:',
    '    app.kubernetes.io/managed-by: trilho',
    `    trilho/ispb: "${record.ispb}"`,
    `    trilho/type: ${record.type}`,
    `    trilho/version: "${record.version}"`,
    '  annotations:',
    `    trilho/not-after: "${record.notAfter.toISOString()}"`,
    `    trilho/fingerprint: "${record.fingerprint}"`,
    'type: kubernetes.io/tls',
    'data:',
    `  tls.crt: ${base64(fullChain(record))}`,
    `  tls.key: ${base64(keyPem(key))}`,
    '',
  ].join('\n')
}
