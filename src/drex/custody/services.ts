/** The programs that sign for wallets, as the settings name them. */
import { readFileSync } from 'node:fs'
import type { Logger } from '#src/platform/observe/index.ts'
import { withoutSlashes } from '#src/platform/runtime/index.ts'
import {
  type CertificateUse,
  createFileMaterial,
  type KeyMaterial,
  usedFiles,
  warnOfClearText,
} from '#src/platform/security/index.ts'
import type { DrexSettings } from '../config.ts'
import { type Assignments, createAssignments } from './assignment.ts'
import { type AwsCredentialSource, containerCredentials } from './aws-credentials.ts'
import { createAwsKms } from './aws-kms.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { metadataTokens, readServiceAccount, serviceAccountTokens } from './gcp-credentials.ts'
import { createGcpKms } from './gcp-kms.ts'
import type { KeyService, KeyServiceName } from './key-service.ts'
import { createWeb3SignerCall, type RpcCall } from './web3signer.ts'

export type Custody = {
  readonly assignments: Assignments
  readonly keyServices: ReadonlyMap<KeyServiceName, KeyService>
  readonly web3signer: RpcCall | undefined
  /** What it connects to Web3Signer with. */
  readonly certificates: readonly CertificateUse[]
  /** Follows certificates that change on disk. */
  readonly start: () => void
  readonly stop: () => void
}

/** @throws Error that names the setting which is missing or cannot be used */
export const createCustody = (settings: DrexSettings, logger: Logger): Custody => {
  const material = web3signerMaterial(settings, logger)
  const exchange = createExchange(settings.signerTimeoutMs)
  const { web3signerUrl } = settings
  const services: (readonly [KeyServiceName, KeyService | undefined])[] = [
    ['aws_kms', awsKms(settings, exchange)],
    ['gcp_kms', gcpKms(settings, exchange)],
  ]
  return {
    assignments: createAssignments(settings.custodyKeys ?? []),
    keyServices: new Map(
      services.flatMap(([name, service]) => (service === undefined ? [] : [[name, service]])),
    ),
    web3signer:
      web3signerUrl === undefined
        ? undefined
        : createWeb3SignerCall(
            createExchange(settings.signerTimeoutMs, { tls: material.current }),
            web3signerUrl,
          ),
    certificates: usedFiles('web3signer', material),
    start: () => {
      warnOfClearText(logger, 'DREX_WEB3SIGNER_URL', web3signerUrl, 'transactions to sign')
      material.watch()
    },
    stop: material.stop,
  }
}

const web3signerMaterial = (settings: DrexSettings, logger: Logger): KeyMaterial =>
  createFileMaterial(
    {
      certificate: settings.web3signerCertificate,
      key: settings.web3signerKey,
      ca: settings.web3signerCa,
    },
    (err) => logger.error({ setting: 'DREX_WEB3SIGNER_CERT_PATH', err }, 'not exchanged'),
  )

const awsKms = (settings: DrexSettings, exchange: Exchange): KeyService | undefined => {
  const { awsRegion: region, awsKmsUrl } = settings
  if (region === undefined) return undefined
  const url = awsKmsUrl ?? `https://kms.${region}.amazonaws.com`
  return createAwsKms({ exchange, url, region, credentials: awsCredentials(settings) })
}

/** The endpoint of the machine, or of the container, that gives out credentials. */
const ofMachine = ({ signerTimeoutMs }: DrexSettings): Exchange =>
  createExchange(signerTimeoutMs, { isDirect: true })

const awsCredentials = (settings: DrexSettings): AwsCredentialSource => {
  const { awsAccessKeyId, awsSecretAccessKey, awsSessionToken, awsCredentialsUrl } = settings
  if (awsAccessKeyId !== undefined && awsSecretAccessKey !== undefined) {
    const credentials = {
      accessKeyId: awsAccessKeyId,
      secretAccessKey: awsSecretAccessKey,
      sessionToken: awsSessionToken,
    }
    return async () => credentials
  }
  if (awsCredentialsUrl !== undefined) {
    const { awsCredentialsTokenFile } = settings
    return containerCredentials(ofMachine(settings), awsCredentialsUrl, awsCredentialsTokenFile)
  }
  throw new Error(
    'DREX_AWS_REGION: also set DREX_AWS_ACCESS_KEY_ID and DREX_AWS_SECRET_ACCESS_KEY, or DREX_AWS_CREDENTIALS_URL',
  )
}

const gcpKms = (settings: DrexSettings, exchange: Exchange): KeyService | undefined => {
  const { gcpCredentials, gcpKmsUrl, gcpMetadataUrl } = settings
  if (gcpCredentials === undefined) return undefined
  const token =
    gcpCredentials === 'metadata'
      ? metadataTokens(ofMachine(settings), withoutSlashes(gcpMetadataUrl))
      : serviceAccountTokens(exchange, readServiceAccount(readFileSync(gcpCredentials, 'utf8')))
  return createGcpKms({ exchange, url: withoutSlashes(gcpKmsUrl), token })
}
