/** Credentials for AWS: from the settings, or from the endpoint that a container has for its role. */
import { readFile } from 'node:fs/promises'
import type { AwsCredentials } from './aws-signature.ts'
import { type Exchange, jsonObject, SignerError } from './exchange.ts'

export type AwsCredentialSource = () => Promise<AwsCredentials>

/** We renew them so long before they end, so that no request runs with ended ones. */
const marginMs = 300_000

/**
 * Asks the container's endpoint (ECS task roles, EKS Pod Identity), and keeps its answer until shortly before its end.
 *
 * @param tokenFile what the endpoint wants as `Authorization`; read each time, because it is exchanged
 */
export const containerCredentials = (
  exchange: Exchange,
  url: string,
  tokenFile: string | undefined,
  now: () => number = Date.now,
): AwsCredentialSource => {
  let kept: { readonly credentials: AwsCredentials; readonly untilMs: number } | undefined
  return async () => {
    if (kept !== undefined && now() < kept.untilMs) return kept.credentials
    const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim()
    const { status, text } = await exchange({
      method: 'GET',
      url,
      headers: { accept: 'application/json', ...(token && { authorization: token }) },
    })
    if (status !== 200) throw new SignerError(`no AWS credentials: HTTP ${status}`, true)
    const answer = jsonObject(text)
    const part = (name: string): string => {
      const value = answer[name]
      if (typeof value === 'string' && value !== '') return value
      throw new SignerError(`no AWS credentials: the answer has no ${name}`, true)
    }
    const credentials: AwsCredentials = {
      accessKeyId: part('AccessKeyId'),
      secretAccessKey: part('SecretAccessKey'),
      sessionToken: part('Token'),
    }
    kept = { credentials, untilMs: Date.parse(part('Expiration')) - marginMs }
    return credentials
  }
}
