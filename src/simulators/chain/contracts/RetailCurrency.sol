// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Currency} from 'src/drex/templates/currency/Currency.sol';

/// @title One institution's retail money: the pilot's RealTokenizado, as far as a swap needs it.
contract RetailCurrency is Currency {
    /// Wallet that holds the institution's wholesale money.
    address public immutable reserve;

    constructor(
        string memory name_,
        string memory symbol_,
        address admin,
        address reserve_
    ) Currency(name_, symbol_, admin) {
        reserve = reserve_;
    }
}
