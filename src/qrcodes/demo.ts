import { callGateway, type Demo, type DemoGateway } from '#src/platform/lifecycle/index.ts'

const body = {
  key: '123e4567-e12b-12d1-a456-426655440000',
  name: 'Fulano de Tal',
  city: 'BRASILIA',
  amount: '10.00',
}

/** Writes a static code through the public interface. */
export const qrcodeDemo = async ({ httpUrl, apiKey }: DemoGateway): Promise<Demo> => ({
  title: 'A static PIX code',
  ...(await callGateway(apiKey, 'POST', `${httpUrl}/v1/qrcodes/static`, body)),
})
