import { createLogger } from '#src/platform/observe/index.ts'
import { createSchemas } from '#src/spi/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { shapedSignature } from '../../../support/messages.ts'

export const signature = shapedSignature.replaceAll('q=', 'A=')
const logger = createLogger({ level: 'error', sink: { write: () => {} } })

// biome-ignore lint/suspicious/noExplicitAny: an answer's members are what the tests look at
export const json = async (response: Response): Promise<any> => await response.json()

/** A schema of our own for a version that no catalogue has. */
export const xsd = (version: string, type = 'xs:date'): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="https://www.bcb.gov.br/pi/pibr.001/${version}" elementFormDefault="qualified"><xs:element name="Envelope" type="${type}"/></xs:schema>`

export const envelope = (version: string, text: string): string =>
  `<Envelope xmlns="https://www.bcb.gov.br/pi/pibr.001/${version}">${text}</Envelope>`

export const appWith = (folder: string | undefined, learning = true) => {
  const { record, key } = testKey('spi:transform')
  const schemas = createSchemas({ settings: { folder, revision: '5.11.1', learning }, logger })
  const app = testApp(schemas.routes ?? [], { keys: [record] })
  const validate = async (xml: string, more: object = {}): Promise<Response> =>
    await app.call('POST', '/v1/validate', { key, body: { message: xml, ...more } })
  const get = async (path: string) => json(await app.call('GET', path, { key }))
  return { validate, get, schemas }
}
