// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IAdmission {
    function verifyAccount(address account) external view returns (bool);
    function enableAccount(address member) external;
    function disableAccount(address member) external;
}

/// @title Lets who is admitted to a currency admit further accounts, and leave it.
/// @notice The shape of the pilot's RealDigitalEnableAccount. It needs the currency's ACCESS_ROLE.
contract AccountAccess {
    IAdmission public immutable token;

    error AccountNotAuthorized(address account);

    constructor(IAdmission token_) {
        token = token_;
    }

    modifier admitted() {
        if (!token.verifyAccount(msg.sender)) revert AccountNotAuthorized(msg.sender);
        _;
    }

    function enableAccount(address member) external admitted {
        token.enableAccount(member);
    }

    /// @notice Takes the caller's own admission away; its balance stays where it is.
    function disableAccount() external admitted {
        token.disableAccount(msg.sender);
    }
}
