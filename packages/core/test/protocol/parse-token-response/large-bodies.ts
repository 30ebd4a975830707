/** Bodies of about `size` characters that would keep a careless parser busy. */
export function largeBodies(size: number): string[] {
  const token = '"access_token":"A1b2","token_type":"Bearer"'
  const fill = (piece: string): string => piece.repeat(size / piece.length)
  return [
    `{${token},"scope":"${fill(' ')}"}`,
    `{${token},"scope":"${fill('a ')}"}`,
    `{${token},"expires_in":"${fill(' ')}x"}`,
    `{${token},"expires_in":"${fill('9')}"}`,
    `{${token},"api_product_list":"${fill(']')}"}`,
    `{${token},"api_product_list":"${fill('] ')}x"}`,
    `{${token},"api_product_list":"${fill(',')}"}`,
    `{"access_token":"${fill('a')}"}`,
    `{"access_token":"a${fill(' ')}"}`,
    `{"access_token":"${fill('a ')}\\n"}`,
    `{"token_type":"${fill('bearer')}"}`,
    `{"fault":{"faultstring":"${fill('app')}"}}`,
    `{"fault":{"faultstring":[${fill('1,')}1]}}`,
    `{"fault":{"faultstring":${fill('[')}`,
    `{"error":"${fill('a')}"}`,
    `{"fault":{"detail":{"errorcode":"${fill('spike')}"}}}`,
    `{${Array.from({ length: size / 17 }, (_, index) => `"m${index}":1`).join(',')}}`,
    fill('{"a":'),
    fill('['),
    `${fill('[').slice(0, size / 2)}${fill(']').slice(0, size / 2)}`,
    fill('<quota '),
    fill('spike arrest '),
  ]
}
